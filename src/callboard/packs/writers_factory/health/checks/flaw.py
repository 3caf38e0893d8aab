"""B1, flaw challenge: how often and in which ways the story tests the protagonist's flaw."""

from collections.abc import Iterator, Sequence

from callboard.packs.writers_factory.health.examination import Examination
from callboard.packs.writers_factory.health.quotes import evidence_of, shortened
from callboard.packs.writers_factory.health.values import (
    CastFunction,
    ChallengeType,
    CheckId,
    FlawChallenge,
    HealthCheckResult,
)
from callboard.packs.writers_factory.health.view import ManuscriptView, SceneView
from callboard.packs.writers_factory.model import Evidence, Finding, Severity
from callboard.packs.writers_factory.settings import HealthSettings


def check_flaw(exam: Examination) -> HealthCheckResult:
    """Look for a flaw that is left alone, or always tested in the same way."""
    view, settings = exam.view, exam.settings
    judged = [scene for scene in view.scenes if is_known(scene)]
    is_partial = len(judged) < len(view.scenes)
    missing = _missing(exam, judged)
    if missing:
        return exam.no_data(CheckId.FLAW, missing, is_partial=is_partial)
    told = [scene.challenge for scene in judged if scene.challenge is not None]
    findings = [
        *_neglect(view, judged, settings),
        *_monotony(view, told, settings),
        *_no_growth(view, settings),
    ]
    details = {
        "gap_scenes": challenge_gap(judged),
        "challenges": [challenge.to_json() for challenge in told],
        "unjudged": [scene.scene_id for scene in view.scenes if not is_known(scene)],
    }
    return exam.result(CheckId.FLAW, findings, details, is_partial=is_partial)


def is_known(scene: SceneView) -> bool:
    """Say whether anybody has looked for a challenge in a scene."""
    return scene.is_judged or scene.challenge is not None


def challenge_gap(scenes: Sequence[SceneView]) -> int:
    """Return how many scenes have passed since the last challenge; all of them if there is none."""
    for gap, scene in enumerate(reversed(scenes)):
        if scene.challenge is not None:
            return gap
    return len(scenes)


def rate_gap(gap_scenes: int, settings: HealthSettings) -> Severity | None:
    """Return how much it matters that the flaw has been left alone for so many scenes."""
    if gap_scenes > settings.flaw_gap_error:
        return Severity.ERROR
    return Severity.WARNING if gap_scenes > settings.flaw_gap_warning else None


def advise(view: ManuscriptView) -> str:
    """Return a recommendation that names the flaw, the lie, and an obstacle the book holds."""
    hero = view.protagonist or "the protagonist"
    lie = f', and let the lie "{shortened(view.lie)}" stop working' if view.lie else ""
    flaw = shortened(view.flaw)
    return f'{_obstacle(view, hero)} so that the flaw "{flaw}" costs something{lie}.'


def _missing(exam: Examination, judged: Sequence[SceneView]) -> str:
    if not exam.view.flaw.strip():
        return "no fatal_flaw is recorded"
    if not exam.scenes:
        return "no accepted scene"
    if not judged:
        return "no scene has been judged for a challenge yet"
    needed = exam.settings.flaw_first_by
    if len(judged) < needed and all(scene.challenge is None for scene in judged):
        return f"{len(judged)} of {needed} scenes needed have been judged"
    return ""


def _neglect(
    view: ManuscriptView, judged: Sequence[SceneView], settings: HealthSettings
) -> Iterator[Finding]:
    last = next((scene for scene in reversed(judged) if scene.challenge is not None), None)
    gap = challenge_gap(judged)
    since = tuple(scene.scene_id for scene in judged[len(judged) - gap :])
    if last is None or last.challenge is None:
        title = f'The flaw "{shortened(view.flaw)}" is never challenged in {gap} scenes'
        yield _finding(view, Severity.ERROR, "gap", title, since)
        return
    severity = rate_gap(gap, settings)
    if severity is not None:
        title = (
            f'The flaw "{shortened(view.flaw)}" has not been challenged for {gap} scenes; the last'
            f" challenge was {_told(last.challenge)} in {last.scene_id}"
        )
        evidence = evidence_of(last, last.challenge.quote)
        yield _finding(view, severity, "gap", title, since, evidence)


def _monotony(
    view: ManuscriptView, told: Sequence[FlawChallenge], settings: HealthSettings
) -> Iterator[Finding]:
    types = {challenge.type for challenge in told}
    if view.progress_pct <= settings.flaw_types_by_pct or len(told) < 2 or len(types) > 1:
        return
    title = f"All {len(told)} challenges to the flaw are of one kind: {told[0].type.value}"
    ids = tuple(challenge.scene_id for challenge in told)
    yield _finding(view, Severity.WARNING, "one_type", title, ids)


def _no_growth(view: ManuscriptView, settings: HealthSettings) -> Iterator[Finding]:
    due = next((s for s in view.scenes if (s.beat_number or 0) >= settings.growth_by_beat), None)
    if due is None:
        return
    until = view.scenes[: view.positions[due.scene_id] + 1]
    grown = [s for s in until if s.challenge and s.challenge.type is ChallengeType.GROWTH]
    # What nobody has read yet may hold it.
    if grown or not all(is_known(scene) for scene in until):
        return
    beat = view.beats_by_number.get(settings.growth_by_beat)
    name = f", {beat.name}," if beat else ""
    title = f"Beat {settings.growth_by_beat}{name} is reached and no challenge has led to growth"
    yield _finding(view, Severity.WARNING, "no_growth", title, (due.scene_id,))


def _told(challenge: FlawChallenge) -> str:
    article = "a" if challenge.type is not ChallengeType.GROWTH else "a step of"
    return f"{article} {challenge.type.value}"


def _obstacle(view: ManuscriptView, hero: str) -> str:
    opposing = [c for c in view.supporting if c.function == CastFunction.ANTAGONIST.value]
    ranked = sorted(view.supporting, key=lambda each: -each.rank)
    for character in (*opposing, *ranked):
        return f"Let {character.name} force {hero} to choose"
    if view.rules:
        return f'Let the rule "{shortened(view.rules[0])}" close the easy way for {hero}'
    return f"Put {hero} before a choice"


def _finding(
    view: ManuscriptView,
    severity: Severity,
    rule: str,
    title: str,
    scene_ids: tuple[str, ...],
    evidence: tuple[Evidence, ...] = (),
) -> Finding:
    return Finding(
        check_id=CheckId.FLAW.value,
        severity=severity,
        title=title,
        recommendation=advise(view),
        evidence=evidence,
        entities=(view.protagonist or "protagonist",),
        rule=rule,
        scene_ids=scene_ids,
    )
