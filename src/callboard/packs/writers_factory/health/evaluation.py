"""Evaluation: the seven checks over what is known, and the report of them. Asks nobody."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from callboard.core.canonical import Json
from callboard.packs.writers_factory.health.checks.cast import check_cast
from callboard.packs.writers_factory.health.checks.flaw import check_flaw
from callboard.packs.writers_factory.health.checks.structure import check_beats, check_pacing
from callboard.packs.writers_factory.health.checks.symbols import check_symbols
from callboard.packs.writers_factory.health.checks.theme import ThemeScore, check_theme
from callboard.packs.writers_factory.health.checks.timeline import TimelineReading, check_timeline
from callboard.packs.writers_factory.health.examination import Examination
from callboard.packs.writers_factory.health.values import CheckId, CheckStatus, HealthCheckResult
from callboard.packs.writers_factory.health.view import ManuscriptView


@dataclass(frozen=True, slots=True)
class Known:
    """What models have said that the checks rest on."""

    timeline: TimelineReading = field(default_factory=TimelineReading)
    theme: Mapping[str, ThemeScore] = field(default_factory=dict[str, ThemeScore])


def evaluate(
    exam: Examination, checks: Iterable[CheckId], known: Known
) -> Iterator[HealthCheckResult]:
    """Go through the seven checks; one that was not asked for is skipped."""
    wanted = frozenset(checks)
    for check in CheckId:
        if check in wanted:
            yield _perform(exam, check, known)
        else:
            yield HealthCheckResult(check.value, CheckStatus.SKIPPED, note="not asked for")


def stats_of(view: ManuscriptView) -> dict[str, Json]:
    """Return the figures a report opens with."""
    return {
        "scenes": len(view.scenes),
        "chapters": len(view.chapters),
        "drafted_words": view.drafted_words,
        "planned_words": view.planned_words,
        "progress_pct": round(view.progress_pct, 2),
        "characters": len(view.characters),
        "symbols": len(view.symbols),
    }


def _perform(exam: Examination, check: CheckId, known: Known) -> HealthCheckResult:
    match check:
        case CheckId.PACING:
            return check_pacing(exam)
        case CheckId.BEATS:
            return check_beats(exam)
        case CheckId.TIMELINE:
            return check_timeline(exam, known.timeline)
        case CheckId.FLAW:
            return check_flaw(exam)
        case CheckId.CAST:
            return check_cast(exam)
        case CheckId.SYMBOLS:
            return check_symbols(exam)
        case CheckId.THEME:
            return check_theme(exam, known.theme)
