"""Flow: stretches in which nothing moves, and how smoothly the whole reads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from callboard.library.story.model import Finding, Quote, Severity
from callboard.library.story.thresholds import ReaderThresholds
from callboard.library.story.tools.noticing import noticed

FlowAssessment = Literal["Smooth", "Some friction", "Major issues"]


@dataclass(frozen=True, slots=True)
class Mood:
    """How one scene feels."""

    title: str
    sentiment: float
    tension: float
    opening: Quote


def flat_stretches(moods: Sequence[Mood], limits: ReaderThresholds) -> Iterator[Finding]:
    """Tell of successive scenes with little tension and no change of feeling."""
    for run in _flat_runs(moods, limits):
        if len(run) >= limits.flat_scenes:
            yield noticed(
                "flat_stretch",
                Severity.MINOR,
                f"{len(run)} scenes in a row with little tension and one mood, from"
                f" {run[0].title} to {run[-1].title}",
                tuple(mood.opening for mood in run[:3]),
                "Let something change between them: a hope, a loss, a threat.",
                0.5,
            )


def assess(findings: Sequence[Finding], limits: ReaderThresholds) -> FlowAssessment:
    """Say how smoothly the story reads, by how many findings of which weight there are."""
    major = sum(finding.severity is Severity.MAJOR for finding in findings)
    minor = sum(finding.severity is Severity.MINOR for finding in findings)
    if major == 0 and minor <= limits.smooth_minor:
        return "Smooth"
    if major <= limits.friction_major and minor <= limits.friction_minor:
        return "Some friction"
    return "Major issues"


def _flat_runs(moods: Sequence[Mood], limits: ReaderThresholds) -> Iterator[list[Mood]]:
    run: list[Mood] = []
    for mood in moods:
        is_low = mood.tension < limits.flat_tension
        if run and is_low:
            change = abs(mood.sentiment - run[-1].sentiment)
            if change < limits.flat_sentiment_change:
                run.append(mood)
                continue
        yield run
        run = [mood] if is_low else []
    yield run
