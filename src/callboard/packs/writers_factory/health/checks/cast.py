"""B2, cast function: what the supporting characters are for, and whether the book uses them."""

from collections.abc import Iterator
from functools import partial
from itertools import combinations, pairwise

from callboard.packs.writers_factory.health.examination import Examination, finding_of
from callboard.packs.writers_factory.health.quotes import evidence_of, sentence_naming
from callboard.packs.writers_factory.health.values import CastFunction, CheckId, HealthCheckResult
from callboard.packs.writers_factory.health.view import (
    CharacterView,
    ManuscriptView,
    SceneView,
    mentions,
    same_name,
)
from callboard.packs.writers_factory.model import Finding, Severity

_finding = partial(finding_of, CheckId.CAST)


def check_cast(exam: Examination) -> HealthCheckResult:
    """Look for characters without a function, without scenes, or with somebody else's function."""
    view = exam.view
    if not exam.scenes and (view.scenes or not view.supporting):
        return exam.no_data(CheckId.CAST, "no accepted scene and nobody but the protagonist")
    findings = [
        *_without_function(view),
        *_seldom_seen(exam),
        *_forgotten(exam),
        *_doubled(exam),
        *_no_antagonist(view),
        *_not_central(exam),
    ]
    details = {
        "cast": [
            {
                "name": each.name,
                "function": each.function,
                "note": each.function_note,
                "appearances": len(view.scenes_with(each)),
                "rank": round(each.rank, 4),
            }
            for each in view.supporting
        ]
    }
    return exam.result(CheckId.CAST, findings, details)


def shared_neighbours(first: CharacterView, second: CharacterView) -> float:
    """Return which part of those around two characters is around both."""
    pair = {first.name, second.name}
    one, other = first.neighbours - pair, second.neighbours - pair
    return len(one & other) / len(one | other) if one | other else 0.0


def long_absences(
    view: ManuscriptView, character: CharacterView, most_scenes: int
) -> Iterator[tuple[SceneView, SceneView, int]]:
    """Yield when somebody was last seen, when they return, and how many scenes lie between."""
    for before, after in pairwise(view.scenes_with(character)):
        absent = view.positions[after.scene_id] - view.positions[before.scene_id] - 1
        if absent > most_scenes:
            yield before, after, absent


def central_names(view: ManuscriptView, top: int) -> tuple[str, ...]:
    """Return the characters the others turn around."""
    ranked = sorted(view.characters, key=lambda each: (-each.rank, each.name))
    return tuple(each.name for each in ranked[:top])


def _without_function(view: ManuscriptView) -> Iterator[Finding]:
    known = {function.value for function in CastFunction}
    for character in view.supporting:
        if character.function in known:
            continue
        name = character.name
        yield _finding(
            Severity.WARNING,
            "no_function",
            f"{name} has no function in the story",
            f"Decide what {name} is for: {', '.join(sorted(known - {'other'}))}, or say it in"
            " your own words.",
            (name,),
            _ids(view.scenes_with(character)),
        )


def _seldom_seen(exam: Examination) -> Iterator[Finding]:
    view, settings = exam.view, exam.settings
    if view.progress_pct < settings.cast_draft_pct:
        return
    for character in view.supporting:
        seen = view.scenes_with(character)
        if len(seen) < settings.cast_appearances:
            yield _finding(
                Severity.INFO,
                "seldom",
                f"{character.name} appears in {len(seen)} scenes of a draft that is at"
                f" {view.progress_pct:.0f} %",
                f"Give {character.name} a scene that only they can carry, or let somebody else"
                " do their work.",
                (character.name,),
                _ids(seen),
            )


def _forgotten(exam: Examination) -> Iterator[Finding]:
    for character in exam.view.supporting:
        for before, after, absent in long_absences(
            exam.view, character, exam.settings.cast_absence
        ):
            if any(mentions(callback, character.names) for callback in after.callbacks):
                continue
            yield _finding(
                Severity.WARNING,
                "absence",
                f"{character.name} returns in {after.scene_id} after {absent} scenes, and nothing"
                f" recalls {before.scene_id}",
                f"Recall in {after.scene_id} where the reader last saw {character.name}, or let"
                " them be spoken of in between.",
                (character.name, after.scene_id),
                (before.scene_id, after.scene_id),
                evidence_of(after, sentence_naming(after, character.names)),
            )


def _doubled(exam: Examination) -> Iterator[Finding]:
    for first, second in combinations(exam.view.supporting, 2):
        is_same = bool(first.function) and first.function == second.function
        if first.function == CastFunction.OTHER.value:
            is_same = is_same and first.function_note == second.function_note
        share = shared_neighbours(first, second)
        if is_same and share > exam.settings.cast_shared_neighbours:
            yield _finding(
                Severity.INFO,
                "doubled",
                f"{first.name} and {second.name} are both {first.function} and share"
                f" {100 * share:.0f} % of those around them",
                "Make one character of them, or give one another function.",
                tuple(sorted((first.name, second.name))),
                _ids((*exam.view.scenes_with(first), *exam.view.scenes_with(second))),
            )


def _no_antagonist(view: ManuscriptView) -> Iterator[Finding]:
    if any(each.function == CastFunction.ANTAGONIST.value for each in view.supporting):
        return
    hero = view.protagonist or "the protagonist"
    yield _finding(
        Severity.ERROR,
        "no_antagonist",
        "Nobody is the antagonist",
        f"Decide who or what wants the opposite of what {hero} wants, and give it a name.",
        (),
        (),
    )


def _not_central(exam: Examination) -> Iterator[Finding]:
    view, top = exam.view, exam.settings.cast_top
    hero = next((each for each in view.characters if same_name(each, view.protagonist)), None)
    if hero is None or not any(each.rank for each in view.characters):
        return
    central = central_names(view, top)
    if hero.name not in central:
        yield _finding(
            Severity.WARNING,
            "not_central",
            f"{hero.name} is the protagonist, but the story turns around {' and '.join(central)}",
            f"Tie {hero.name} to what {central[0]} does, or ask whose story this is.",
            (hero.name,),
            (),
        )


def _ids(scenes: tuple[SceneView, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(scene.scene_id for scene in scenes))
