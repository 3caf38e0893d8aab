"""Structure, A1 and A2: the tension moves over the chapters, the beats stand where they belong."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from statistics import fmean
from typing import Final

from callboard.packs.writers_factory.bible.shapes import BeatPoint
from callboard.packs.writers_factory.health.examination import Examination, finding_of
from callboard.packs.writers_factory.health.values import CheckId, HealthCheckResult
from callboard.packs.writers_factory.health.view import ManuscriptView, SceneView
from callboard.packs.writers_factory.model import Finding, Severity
from callboard.packs.writers_factory.settings import HealthSettings

_finding = partial(finding_of, CheckId.BEATS)

# Means of tenths differ in the last bits.
_DIGITS: Final = 6


def check_beats(exam: Examination) -> HealthCheckResult:
    """Compare where the beats stand with where they are to stand."""
    view = exam.view
    if not exam.scenes or not view.beats:
        return exam.no_data(CheckId.BEATS, "no accepted scene" if view.beats else "no beats")
    findings = [
        *_written(view, exam.settings),
        *_unwritten(exam),
        *_disorder(view),
        *_without_beat(view),
    ]
    starts = {
        str(number): round(view.start_pcts[scene.scene_id], 2)
        for number, scene in sorted(view.first_scenes().items())
    }
    # A beat that nobody wrote has no scene, so the scope was asked before.
    return exam.result(
        CheckId.BEATS,
        findings,
        {"progress_pct": round(view.progress_pct, 2), "starts_pct": starts},
    )


def points_off(beat: BeatPoint, start_pct: float) -> float:
    """Return by how many points a beat begins before or after where it is to begin."""
    return round(max(0.0, beat.low_pct - start_pct, start_pct - beat.high_pct), _DIGITS)


def rate_written(off_points: float, settings: HealthSettings) -> Severity | None:
    """Return how much it matters that a written beat is off its place."""
    if off_points >= settings.beat_error_points:
        return Severity.ERROR
    return Severity.WARNING if off_points >= settings.beat_warning_points else None


def rate_unwritten(
    beat: BeatPoint, progress_pct: float, settings: HealthSettings
) -> Severity | None:
    """Return how much it matters that a beat is not written yet."""
    overdue = round(progress_pct - beat.high_pct, _DIGITS)
    if overdue >= settings.beat_error_points:
        return Severity.ERROR
    if overdue > 0:
        return Severity.WARNING
    return Severity.INFO if -overdue <= settings.beat_due_points else None


def _written(view: ManuscriptView, settings: HealthSettings) -> Iterator[Finding]:
    for number, scene in view.first_scenes().items():
        beat = view.beats_by_number.get(number)
        if beat is None:
            continue
        start = view.start_pcts[scene.scene_id]
        severity = rate_written(points_off(beat, start), settings)
        if severity is None:
            continue
        side = "early" if start < beat.low_pct else "late"
        yield _finding(
            severity,
            "misplaced",
            f"Beat {beat.number}, {beat.name}, begins at {start:.1f} % and is to begin at"
            f" {_target(beat)}: {points_off(beat, start):.1f} points too {side}",
            f"Move it, or {'add to' if side == 'early' else 'cut'} what stands before"
            f" {scene.scene_id}.",
            (f"beat {beat.number}",),
            (scene.scene_id,),
        )


def _unwritten(exam: Examination) -> Iterator[Finding]:
    view, written = exam.view, exam.view.first_scenes()
    for beat in view.beats:
        if beat.number in written or not exam.scope.has_beat(beat):
            continue
        severity = rate_unwritten(beat, view.progress_pct, exam.settings)
        if severity is None:
            continue
        is_due = severity is Severity.INFO
        yield _finding(
            severity,
            "unwritten",
            f"The manuscript is at {view.progress_pct:.1f} % and beat {beat.number},"
            f" {beat.name}, due at {_target(beat)}, is not written",
            f"Plan the scene of {beat.name} next."
            if is_due
            else f"Write {beat.name} now, or give an accepted scene to it.",
            (f"beat {beat.number}",),
            # It is felt where the manuscript ends.
            tuple(scene.scene_id for scene in exam.scenes[-1:]),
        )


def _disorder(view: ManuscriptView) -> Iterator[Finding]:
    seen: list[tuple[BeatPoint, SceneView]] = []
    for number, scene in view.first_scenes().items():
        beat = view.beats_by_number.get(number)
        if beat is None:
            continue
        ahead = [(other, at) for other, at in seen if _is_ahead(other, beat)]
        if ahead:
            other, at = ahead[0]
            yield _finding(
                Severity.WARNING,
                "order",
                f"Beat {beat.number}, {beat.name}, comes after beat {other.number}, {other.name}",
                f"Put {scene.scene_id} before {at.scene_id}, or give them other beats.",
                (f"beat {beat.number}",),
                (at.scene_id, scene.scene_id),
            )
        seen.append((beat, scene))


def _is_ahead(other: BeatPoint, beat: BeatPoint) -> bool:
    """Say whether an earlier scene serves a later beat, and the sheet does not want it so.

    Some beats lie within a longer one of a higher number.
    """
    return other.number > beat.number and other.low_pct >= beat.low_pct


def _without_beat(view: ManuscriptView) -> Iterator[Finding]:
    for scene in view.scenes:
        if scene.beat_number is None:
            yield _finding(
                Severity.WARNING,
                "no_beat",
                f"{scene.scene_id} serves no beat",
                "Say which beat it serves, or ask what the book would lose without it.",
                (scene.scene_id,),
                (scene.scene_id,),
            )


def _target(beat: BeatPoint) -> str:
    if beat.low_pct == beat.high_pct:
        return f"{beat.low_pct:g} %"
    return f"{beat.low_pct:g}-{beat.high_pct:g} %"


def check_pacing(exam: Examination) -> HealthCheckResult:
    """Look for plateaus, and for a fall before the moment when all is lost."""
    view, settings = exam.view, exam.settings
    tensions = chapter_tensions(view)
    needed = settings.plateau_chapters
    if len(tensions) < needed:
        return exam.no_data(
            CheckId.PACING,
            f"{len(tensions)} of {needed} chapters needed have scenes with a tension",
        )
    findings = [
        _plateau(view, tensions, run, settings.plateau_error_chapters)
        for run in find_plateaus(view.chapters, tensions, needed, settings.plateau_range)
    ]
    fall = find_fall(view, tensions, settings.falling_chapters, settings.all_is_lost_beat)
    if fall:
        findings.append(_falling(view, tensions, fall))
    details = {"chapters": {str(chapter): value for chapter, value in tensions.items()}}
    return exam.result(CheckId.PACING, findings, details)


def chapter_tensions(view: ManuscriptView) -> dict[int, float]:
    """Return the mean tension of every chapter that has any, in order."""
    found: dict[int, list[float]] = {}
    for scene in view.scenes:
        if scene.tension is not None:
            found.setdefault(scene.chapter, []).append(scene.tension)
    return {
        chapter: round(fmean(found[chapter]), _DIGITS)
        for chapter in view.chapters
        if chapter in found
    }


def find_plateaus(
    chapters: Sequence[int], tensions: Mapping[int, float], window: int, most: float
) -> Iterator[tuple[int, ...]]:
    """Yield runs of chapters each of whose windows stays within `most`.

    A chapter without a tension ends a run: nobody knows what it does.
    """
    run: tuple[int, ...] = ()
    for start in range(len(chapters) - window + 1):
        part = tuple(chapters[start : start + window])
        if _is_flat(part, tensions, most):
            run = (*run, part[-1]) if run else part
            continue
        if run:
            yield run
        run = ()
    if run:
        yield run


def find_fall(
    view: ManuscriptView, tensions: Mapping[int, float], length: int, beat: int
) -> tuple[int, ...]:
    """Return the last chapters before a beat, if each is less tense than the one before."""
    lost = view.first_scenes().get(beat)
    if lost is None:
        return ()
    before = [chapter for chapter in view.chapters if chapter < lost.chapter][-length:]
    values = [tensions.get(chapter) for chapter in before]
    known = [value for value in values if value is not None]
    if len(known) < length:
        return ()
    falls = all(later < earlier for earlier, later in pairwise(known))
    return tuple(before) if falls else ()


def _is_flat(chapters: Sequence[int], tensions: Mapping[int, float], most: float) -> bool:
    values = [tensions[chapter] for chapter in chapters if chapter in tensions]
    if len(values) < len(chapters):
        return False
    return round(max(values) - min(values), _DIGITS) <= most


def _plateau(
    view: ManuscriptView, tensions: Mapping[int, float], run: tuple[int, ...], error_from: int
) -> Finding:
    spread = max(tensions[each] for each in run) - min(tensions[each] for each in run)
    return Finding(
        check_id=CheckId.PACING.value,
        severity=Severity.ERROR if len(run) >= error_from else Severity.WARNING,
        title=f"Tension moves by only {spread:.1f} over chapters {run[0]}-{run[-1]}"
        f" ({_listed(tensions, run)})",
        recommendation=f"Let something be lost or won for good in chapter {run[len(run) // 2]},"
        " or give one of these chapters room to breathe.",
        # The first chapter names the plateau, so that it stays the same while it grows.
        entities=(f"chapter {run[0]}",),
        rule="plateau",
        scene_ids=_scenes_of(view, run),
    )


def _falling(view: ManuscriptView, tensions: Mapping[int, float], run: tuple[int, ...]) -> Finding:
    return Finding(
        check_id=CheckId.PACING.value,
        severity=Severity.INFO,
        title=f"Tension falls over chapters {run[0]}-{run[-1]}, right before all is lost"
        f" ({_listed(tensions, run)})",
        recommendation="Close the ways out one after the other, so that the blow lands from"
        " a height.",
        entities=(f"chapter {run[-1]}",),
        rule="falling",
        scene_ids=_scenes_of(view, run),
    )


def _listed(tensions: Mapping[int, float], run: Sequence[int]) -> str:
    return ", ".join(f"{chapter}: {tensions[chapter]:.1f}" for chapter in run)


def _scenes_of(view: ManuscriptView, chapters: Sequence[int]) -> tuple[str, ...]:
    return tuple(scene.scene_id for scene in view.scenes if scene.chapter in chapters)
