"""The curve: scores of the scenes, how each compares with the one before, and what stands out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from callboard.library.story.model import Finding, Quote, Severity
from callboard.library.story.thresholds import StakesThresholds
from callboard.library.story.tools.noticing import noticed
from callboard.library.story.tools.stakes.hits import Hits

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


def curve_findings(stops: Sequence[Stop], limits: StakesThresholds) -> Iterator[Finding]:
    """Tell of plateaus, of a drop near the end, and of scenes in which nothing is at stake."""
    yield from _plateaus(stops, limits)
    yield from _late_drops(stops, limits)
    yield from _low(stops, limits)


def _low(stops: Sequence[Stop], limits: StakesThresholds) -> Iterator[Finding]:
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


def _plateaus(stops: Sequence[Stop], limits: StakesThresholds) -> Iterator[Finding]:
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


def _late_drops(stops: Sequence[Stop], limits: StakesThresholds) -> Iterator[Finding]:
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
