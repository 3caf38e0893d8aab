"""Mood: how dark or bright a scene is, stretches in which nothing moves, how smoothly all reads."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from callboard.library.story.lexicon import words_in
from callboard.library.story.model import Quote, Severity, StoryFinding
from callboard.library.story.text.document import Document
from callboard.library.story.thresholds import ReaderThresholds
from callboard.library.story.tools.report import noticed
from callboard.library.story.tools.stems import different_words, weights_of

_NEGATION_REACH_WORDS: Final = 3
# So much neutral weight keeps a scene with two feeling words from being extreme.
_DAMPING: Final = 5.0
FlowAssessment = Literal["Smooth", "Some friction", "Major issues", "Not checked"]


def sentiment_of(document: Document) -> float:
    """Weigh the feeling words of a scene against each other."""
    weights = weights_of("valence").among(different_words(document.sentences))
    bright = dark = 0.0
    for sentence in document.sentences:
        brighter, darker = weigh(sentence.words, weights)
        bright += brighter
        dark += darker
    return (bright - dark) / (bright + dark + _DAMPING)


def weigh(words: Sequence[str], weights: Mapping[str, float | str]) -> tuple[float, float]:
    """Return how bright and how dark some words are; a negation turns what follows it."""
    bright = dark = 0.0
    for index, word in enumerate(words):
        if word not in weights:
            continue
        weight = float(weights[word])
        if _is_negated(words, index):
            weight = -weight / 2
        bright += max(weight, 0.0)
        dark += max(-weight, 0.0)
    return bright, dark


def _is_negated(words: Sequence[str], index: int) -> bool:
    before = words[max(0, index - _NEGATION_REACH_WORDS) : index]
    negations = words_in("valence", "negations")
    return any(word in negations or word.endswith("n't") for word in before)


@dataclass(frozen=True, slots=True)
class Mood:
    """How one scene feels."""

    title: str
    sentiment: float
    tension: float
    opening: Quote


def flat_stretches(moods: Sequence[Mood], limits: ReaderThresholds) -> Iterator[StoryFinding]:
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


def assess(
    findings: Sequence[StoryFinding], limits: ReaderThresholds, *, scenes: int
) -> FlowAssessment:
    """Say how smoothly the story reads, by how many findings of which weight there are.

    Where nothing was read, nothing is known.
    """
    if not scenes:
        return "Not checked"
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
