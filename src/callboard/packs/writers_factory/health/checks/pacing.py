"""A1, pacing plateau: chapters in a row whose tension hardly moves."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Final

from callboard.packs.writers_factory.health.examination import Examination
from callboard.packs.writers_factory.health.values import CheckId, CheckResult
from callboard.packs.writers_factory.health.view import ManuscriptView
from callboard.packs.writers_factory.model import Finding, Severity

# Means of tenths differ in the last bits.
_DIGITS: Final = 6


def check_pacing(exam: Examination) -> CheckResult:
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
