"""Scoring: a text, its brief and a verdict become points and issues. Pure: no clock, no model.

A part nobody could score (no gold standard, no judge, a judge whose quote is not in the scene) has
no points and counts neither for nor against; the total is what was earned of what could be earned.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from callboard.core.canonical import digest_bytes
from callboard.packs.writers_factory.model import Severity
from callboard.packs.writers_factory.prose import (
    PatternHit,
    PatternSeverity,
    distance,
    measure,
    scan,
)
from callboard.packs.writers_factory.revision.analysis.brief import (
    SceneBrief,
    Thread,
    find_thread,
    nearest_place,
)
from callboard.packs.writers_factory.revision.analysis.findings import (
    MOST_GRADE,
    Band,
    Category,
    CategoryScore,
    Issue,
    PartScore,
    SceneAnalysis,
    Source,
    Verdict,
)
from callboard.packs.writers_factory.revision.analysis.forbidden import find_breaches
from callboard.packs.writers_factory.revision.analysis.quotes import Span, locate, sentences_of
from callboard.packs.writers_factory.settings import AnalysisSettings

_STYLE: Final = 10.0
_SCAN: Final = 15.0
_PRESENCE: Final = 10.0
_JUDGED: Final = {
    Category.VOICE: 20.0,
    Category.PROSE: 5.0,
    Category.BEAT: 20.0,
    Category.CHARACTER: 15.0,
    Category.CONTINUITY: 5.0,
}
_ZERO_TOLERANCE_COST: Final = 5.0
_DEDUCTION_COST: Final = 1.0
_BREACH_COST: Final = 5.0


@dataclass
class _Sheet:
    """A scene while it is scored."""

    text: str
    parts: dict[Category, list[PartScore]] = field(
        default_factory=lambda: {category: list[PartScore]() for category in Category}
    )
    issues: list[Issue] = field(default_factory=list[Issue])
    taken_off: float = 0.0
    dropped: int = 0


def score_scene(
    text: str,
    brief: SceneBrief,
    verdict: Verdict | None,
    settings: AnalysisSettings,
    *,
    judged_by: str = "",
    is_fast: bool = False,
    unjudged: str = "",
) -> SceneAnalysis:
    """Return the analysis of a scene; the same text, brief and verdict always give the same.

    `unjudged` says why a judge who was asked has not answered.
    """
    sheet = _Sheet(text)
    _score_style(sheet, brief)
    _score_patterns(sheet, brief)
    _score_threads(sheet, brief.threads)
    _score_breaches(sheet, brief)
    _score_verdict(sheet, verdict)
    scores = tuple(
        CategoryScore(
            category,
            tuple(sheet.parts[category]),
            sheet.taken_off if category is Category.CONTINUITY else 0.0,
        )
        for category in Category
    )
    total = _total(scores)
    return SceneAnalysis(
        scene_id=brief.scene_id,
        text_sha256=digest_bytes(text.encode("utf-8", "surrogatepass")),
        scores=scores,
        issues=tuple(sorted(sheet.issues, key=lambda each: (each.line, each.start, each.problem))),
        total=total,
        band=band_of(total, settings),
        judged_by=judged_by,
        is_fast=is_fast,
        notes=_notes(sheet, brief, verdict, unjudged),
    )


def band_of(total: float, settings: AnalysisSettings) -> Band:
    """Return what a total recommends."""
    if total >= settings.accept_from:
        return Band.ACCEPT
    return Band.REVISE if total >= settings.six_pass_from else Band.REWRITE


def scan_scene(text: str, brief: SceneBrief) -> tuple[PatternHit, ...]:
    """Return what the anti-pattern scan finds in a scene."""
    return scan(text, patterns=brief.patterns, pov=brief.pov)


def _score_style(sheet: _Sheet, brief: SceneBrief) -> None:
    points = None
    if brief.gold is not None and sheet.text.strip():
        apart = min(max(distance(brief.gold, measure(sheet.text)), 0.0), 1.0)
        points = round(_STYLE * (1 - apart), 2)
    sheet.parts[Category.VOICE].append(PartScore("stylometrics", points, _STYLE))


def _score_patterns(sheet: _Sheet, brief: SceneBrief) -> None:
    cost = 0.0
    for hit in scan_scene(sheet.text, brief):
        is_zero = hit.severity is PatternSeverity.ZERO_TOLERANCE
        cost += _ZERO_TOLERANCE_COST if is_zero else _DEDUCTION_COST
        sheet.issues.append(_pattern_issue(hit, is_zero=is_zero))
    points = max(0.0, _SCAN - cost)
    sheet.parts[Category.PROSE].append(PartScore("anti_patterns", points, _SCAN))


def _pattern_issue(hit: PatternHit, *, is_zero: bool) -> Issue:
    kind = "no scene may hold" if is_zero else "a scene should do without"
    return Issue(
        Category.PROSE,
        Severity.ERROR if is_zero else Severity.WARNING,
        hit.line,
        hit.quote,
        f"A pattern {kind}: {hit.pattern}",
        hit.instead,
        source=Source.SCAN,
        pattern=hit.pattern,
        start=hit.offset,
        end=hit.end,
    )


def _score_threads(sheet: _Sheet, threads: tuple[Thread, ...]) -> None:
    missing = [thread for thread in threads if find_thread(sheet.text, thread) is None]
    share = 1 - len(missing) / len(threads) if threads else 1.0
    sheet.parts[Category.CONTINUITY].append(
        PartScore("threads", round(_PRESENCE * share, 2), _PRESENCE)
    )
    for thread in missing:
        place = nearest_place(sheet.text, thread)
        first = _first_sentence(place)
        sheet.issues.append(
            Issue(
                Category.CONTINUITY,
                Severity.WARNING,
                first.line if first else 1,
                first.quote if first else "",
                f"The {thread.kind} {thread.name!r} is not in the scene",
                "Work it in near the quoted place.",
                Source.PRESENCE,
                thread.name,
                first.start if first else -1,
                first.end if first else -1,
            )
        )


def _score_breaches(sheet: _Sheet, brief: SceneBrief) -> None:
    for breach in find_breaches(sheet.text, brief.forbidden, brief.chapter):
        sheet.taken_off += _BREACH_COST
        sheet.issues.append(
            Issue(
                Category.CONTINUITY,
                Severity.ERROR,
                breach.span.line,
                breach.span.quote,
                f"It goes against the correction {breach.fact.correction.key!r}: "
                f"{breach.fact.correction.value}",
                "Change the sentence, or the correction.",
                Source.CORRECTION,
                breach.fact.correction.key,
                breach.span.start,
                breach.span.end,
            )
        )


def _score_verdict(sheet: _Sheet, verdict: Verdict | None) -> None:
    for category, most in _JUDGED.items():
        grade = verdict.grade(category) if verdict is not None else None
        place = locate(sheet.text, grade.quote) if grade is not None else None
        if grade is None or place is None:
            sheet.dropped += grade is not None
            sheet.parts[category].append(PartScore("judge", None, most))
            continue
        points = round(most * grade.score / MOST_GRADE, 2)
        sheet.parts[category].append(PartScore("judge", points, most, grade.reason, place.quote))
    for charge in verdict.charges if verdict is not None else ():
        place = locate(sheet.text, charge.quote)
        if place is None:
            sheet.dropped += 1
            continue
        sheet.issues.append(
            Issue(
                charge.category,
                charge.severity,
                place.line,
                place.quote,
                charge.problem,
                charge.suggestion,
                start=place.start,
                end=place.end,
            )
        )


def _first_sentence(place: Span | None) -> Span | None:
    if place is None:
        return None
    first = next(iter(sentences_of(place.quote)), None)
    if first is None:
        return place
    start = place.start + first.start
    return Span(start, place.start + first.end, place.line + first.line - 1, first.quote)


def _total(scores: Iterable[CategoryScore]) -> float:
    scored = [(score.points, score.most) for score in scores if score.points is not None]
    most = sum(each for _, each in scored)
    return round(100 * sum(points for points, _ in scored) / most, 1) if most else 0.0


def _notes(
    sheet: _Sheet, brief: SceneBrief, verdict: Verdict | None, unjudged: str
) -> tuple[str, ...]:
    notes: list[str] = []
    if brief.gold is None:
        notes.append("There is no voice bundle yet: the voice was not measured.")
    if unjudged:
        notes.append(f"Not judged, only what code can measure is scored: {unjudged}")
    elif verdict is None:
        notes.append("No judge was asked: only what code can measure is scored.")
    if sheet.dropped:
        notes.append(f"{sheet.dropped} remarks of the judge were dropped: they quote nothing here.")
    return tuple(notes)
