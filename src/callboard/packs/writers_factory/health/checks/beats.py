"""A2, beat progress: where the beats stand in the book, and which ones are due."""

from collections.abc import Iterator
from typing import Final

from callboard.packs.writers_factory.health.examination import Examination
from callboard.packs.writers_factory.health.values import CheckId, CheckResult
from callboard.packs.writers_factory.health.view import BeatView, ManuscriptView, SceneView
from callboard.packs.writers_factory.model import Finding, Severity
from callboard.packs.writers_factory.settings import HealthSettings

_DIGITS: Final = 6


def check_beats(exam: Examination) -> CheckResult:
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


def points_off(beat: BeatView, start_pct: float) -> float:
    """Return by how many points a beat begins before or after where it is to begin."""
    return round(max(0.0, beat.low_pct - start_pct, start_pct - beat.high_pct), _DIGITS)


def rate_written(off_points: float, settings: HealthSettings) -> Severity | None:
    """Return how much it matters that a written beat is off its place."""
    if off_points >= settings.beat_error_points:
        return Severity.ERROR
    return Severity.WARNING if off_points >= settings.beat_warning_points else None


def rate_unwritten(
    beat: BeatView, progress_pct: float, settings: HealthSettings
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
    seen: list[tuple[BeatView, SceneView]] = []
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


def _is_ahead(other: BeatView, beat: BeatView) -> bool:
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


def _target(beat: BeatView) -> str:
    if beat.low_pct == beat.high_pct:
        return f"{beat.low_pct:g} %"
    return f"{beat.low_pct:g}-{beat.high_pct:g} %"


def _finding(
    severity: Severity,
    rule: str,
    title: str,
    recommendation: str,
    entities: tuple[str, ...],
    scene_ids: tuple[str, ...],
) -> Finding:
    return Finding(
        check_id=CheckId.BEATS.value,
        severity=severity,
        title=title,
        recommendation=recommendation,
        entities=entities,
        rule=rule,
        scene_ids=scene_ids,
    )
