"""The curve: what is at stake in each scene, its score, and what stands out against the others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from callboard.library.story.index import OutlineEntry
from callboard.library.story.model import Quote, Severity, StoryFile, StoryFinding
from callboard.library.story.text.document import Document
from callboard.library.story.thresholds import StakesThresholds
from callboard.library.story.tools.report import noticed
from callboard.library.story.tools.stakes.hits import Hits, SceneHits, line_hits

Escalation = Literal["Higher", "Same", "Lower"]


@dataclass(frozen=True, slots=True)
class Level:
    """Where one scene stands on the curve."""

    raw: float
    score: float
    escalation: Escalation | None


@dataclass(frozen=True, slots=True)
class Stop:
    """One scene on the way through the story, as far as findings need it."""

    title: str
    level: Level
    word_count: int
    quotes: tuple[Quote, ...]
    # What to show where the scene has no stakes to quote.
    opening: Quote


def raw_of(hits: Hits, word_count: int, limits: StakesThresholds) -> float:
    """Return the weighted hits in 1,000 words."""
    weighted = (
        limits.external_weight * hits.external
        + limits.internal_weight * hits.internal
        + limits.pressure_weight * hits.pressure
    )
    return 1000 * weighted / word_count if word_count else 0.0


def levels_of(raws: Sequence[float], limits: StakesThresholds) -> tuple[Level, ...]:
    """Scale raw values to scores and compare each scene with the one before."""
    ceiling = max([*raws, limits.raw_floor])
    before: list[float | None] = [None, *raws]
    return tuple(
        Level(raw, 100 * raw / ceiling, _escalation(previous, raw, limits))
        for previous, raw in zip(before, raws, strict=False)
    )


def curve_findings(stops: Sequence[Stop], limits: StakesThresholds) -> Iterator[StoryFinding]:
    """Tell of plateaus, of a drop near the end, and of scenes in which nothing is at stake."""
    yield from _plateaus(stops, limits)
    yield from _late_drops(stops, limits)
    yield from _low(stops, limits)


def _low(stops: Sequence[Stop], limits: StakesThresholds) -> Iterator[StoryFinding]:
    low = [
        stop
        for stop in stops
        if stop.level.score < limits.low_score and stop.word_count >= limits.low_min_words
    ]
    if len(low) > max(1, limits.low_habit_share * len(stops)):
        yield noticed(
            "low_stakes",
            Severity.INFO,
            f"{len(low)} of {len(stops)} scenes say little of what can be lost; a quiet book may",
            tuple(_shown(stop) for stop in low[:3]),
            "Give the themes to follow, if the stakes go by other words here.",
            0.4,
        )
        return
    for stop in low:
        is_end = stop is stops[-1]
        yield noticed(
            "low_stakes",
            Severity.INFO if is_end else Severity.MINOR,
            f"{stop.title}: stakes of {stop.level.score:.0f} of 100 (below {limits.low_score:g})",
            (_shown(stop),),
            "Say what can be lost here, or let the scene be short.",
            0.6,
        )


def _escalation(previous: float | None, raw: float, limits: StakesThresholds) -> Escalation | None:
    if previous is None:
        return None
    if raw > limits.higher_ratio * previous:
        return "Higher"
    return "Lower" if raw < limits.lower_ratio * previous else "Same"


def _plateaus(stops: Sequence[Stop], limits: StakesThresholds) -> Iterator[StoryFinding]:
    for run in _runs(stops, limits):
        is_low = all(stop.level.score < limits.low_score for stop in run)
        if len(run) < limits.plateau_scenes or is_low:
            continue
        scores = ", ".join(f"{stop.level.score:.0f}" for stop in run)
        yield noticed(
            "plateau",
            Severity.MINOR,
            f"The stakes stay level for {len(run)} scenes, from {run[0].title} to"
            f" {run[-1].title} ({scores})",
            tuple(_shown(stop) for stop in run),
            "Raise the price in one of them, or take one away.",
            0.6,
        )


def _runs(stops: Sequence[Stop], limits: StakesThresholds) -> Iterator[list[Stop]]:
    """Return stretches on one level: a slow climb leaves the level it began on."""
    run: list[Stop] = []
    for stop in stops:
        if run and not _is_level(run[0].level.raw, stop.level, limits):
            yield run
            run = []
        run.append(stop)
    yield run


def _is_level(start: float, level: Level, limits: StakesThresholds) -> bool:
    return level.escalation == "Same" and _escalation(start, level.raw, limits) == "Same"


def _late_drops(stops: Sequence[Stop], limits: StakesThresholds) -> Iterator[StoryFinding]:
    if len(stops) < limits.late_min_scenes:
        return
    first_late = len(stops) - max(1, round(limits.late_share * len(stops)))
    for first, last in _falls(stops, max(1, first_late)):
        before, stop = stops[first - 1], stops[last]
        # Only the last scene falls: the rest after the storm.
        is_end = first == last == len(stops) - 1
        yield noticed(
            "late_drop",
            Severity.INFO if is_end else Severity.MINOR,
            f"Near the end the stakes fall from {before.level.score:.0f} to"
            f" {stop.level.score:.0f} in {stop.title}"
            + ("; as the last scene it may be the rest after the storm" if is_end else ""),
            (_shown(before), _shown(stop)),
            "" if is_end else "Check that the story is not over before its last scene.",
            0.5,
        )


def _falls(stops: Sequence[Stop], first_late: int) -> Iterator[tuple[int, int]]:
    """Return the first and last scene of every fall, as far as it goes on without a rise."""
    start: int | None = None
    for number in range(first_late, len(stops)):
        is_lower = stops[number].level.escalation == "Lower"
        if is_lower and start is None:
            start = number
        elif not is_lower and start is not None:
            yield start, number - 1
            start = None
    if start is not None:
        yield start, len(stops) - 1


def _shown(stop: Stop) -> Quote:
    return stop.quotes[0] if stop.quotes else stop.opening


@dataclass(frozen=True, slots=True)
class StakesPart:
    """A stretch of text that is measured: a scene file, or a scene's entry in the outline."""

    path: str
    title: str
    declared_stakes: str | None
    document: Document
    hits: SceneHits
    # What to show where nothing was hit; None where there is no text at all.
    opening: Quote | None
    # The lines of the document that are meant; None for all.
    lines: range | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """A part with its place on the curve."""

    part: StakesPart
    level: Level
    quotes: tuple[Quote, ...]

    @property
    def stop(self) -> Stop | None:
        """The part as findings take it, or None where there is nothing to quote or to measure."""
        if self.part.opening is None or not self.part.document.is_english:
            return None
        hits = self.part.hits
        return Stop(self.part.title, self.level, hits.word_count, self.quotes, self.part.opening)

    def to_json(self) -> dict[str, Any]:
        """Return the shape payloads hold."""
        hits = self.part.hits
        return {
            "path": self.part.path,
            "title": self.part.title,
            "word_count": hits.word_count,
            "external": hits.total.external,
            "internal": hits.total.internal,
            "pressure": hits.total.pressure,
            "raw": round(self.level.raw, 3),
            "score": round(self.level.score, 1),
            "escalation": self.level.escalation,
            "declared_stakes": self.part.declared_stakes,
            "quotes": [quote.to_json() for quote in self.quotes],
            "language_supported": self.part.document.is_english,
        }


def scene_part(file: StoryFile, document: Document, hits: SceneHits) -> StakesPart:
    """Return a scene file as a part."""
    sentences = document.sentences
    opening = document.quote(sentences[0]) if sentences else None
    return StakesPart(file.path, file.title, file.stakes, document, hits, opening)


def entry_part(entry: OutlineEntry, document: Document) -> StakesPart:
    """Return a scene's entry in the outline as a part."""
    lines = range(entry.line_start, entry.line_end + 1)
    return StakesPart(
        document.path,
        entry.title,
        entry.fields.get("stakes"),
        document,
        line_hits(document, lines),
        document.quote(entry.line_start),
        lines,
    )


def measure(parts: Sequence[StakesPart], limits: StakesThresholds) -> tuple[Measured, ...]:
    """Put parts on one curve."""
    raws = [raw_of(part.hits.total, part.hits.word_count, limits) for part in parts]
    return tuple(
        Measured(part, level, _top_quotes(part, limits))
        for part, level in zip(parts, levels_of(raws, limits), strict=True)
    )


def _top_quotes(part: StakesPart, limits: StakesThresholds) -> tuple[Quote, ...]:
    # Of equals the earlier comes first: sorting keeps their order.
    ranked = sorted(part.hits.places, key=lambda each: -raw_of(each[1], 1000, limits))
    return tuple(part.document.quote(each) for each, _ in ranked[: limits.quotes_per_scene])
