"""Rhythm: how long sentences are, how they open, and how the pace changes through the scene."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median, pstdev
from typing import Final

from callboard.library.story.lexicon import words_in
from callboard.library.story.model import Severity, StoryFinding
from callboard.library.story.text.document import Document, Sentence
from callboard.library.story.text.words import words_of
from callboard.library.story.thresholds import ProseThresholds
from callboard.library.story.tools.prose.voice import NarratedSentence, Narration, first_word
from callboard.library.story.tools.report import noticed, quotes_of

_STRONG_STOPS: Final = re.compile(r"[;:—–]|\s-\s")
_QUOTES_PER_FINDING: Final = 3


@dataclass(frozen=True, slots=True)
class Lengths:
    """Sentence lengths of a scene, in words."""

    counts: tuple[int, ...]
    longest: Sentence | None
    shortest: Sentence | None

    @property
    def mean(self) -> float:
        """The mean length; 0 where there is no sentence."""
        return fmean(self.counts) if self.counts else 0.0

    @property
    def median(self) -> float:
        """The median length."""
        return float(median(self.counts)) if self.counts else 0.0

    @property
    def stdev(self) -> float:
        """How much the lengths differ."""
        return pstdev(self.counts) if self.counts else 0.0


@dataclass(frozen=True, slots=True)
class PaceSegment:
    """One tenth of a scene's sentences."""

    sentences: tuple[Sentence, ...]
    mean_words: float
    dialogue_share: float


def lengths_of(sentences: Sequence[Sentence]) -> Lengths:
    """Measure every sentence that has a word in it."""
    spoken = [sentence for sentence in sentences if sentence.words]
    return Lengths(
        tuple(len(sentence.words) for sentence in spoken),
        max(spoken, key=lambda sentence: len(sentence.words), default=None),
        min(spoken, key=lambda sentence: len(sentence.words), default=None),
    )


def segments_of(sentences: Sequence[Sentence], parts: int) -> tuple[PaceSegment, ...]:
    """Cut a scene into parts of as many sentences each, as evenly as it goes."""
    spoken = [sentence for sentence in sentences if sentence.words]
    bounds = [round(index * len(spoken) / parts) for index in range(parts + 1)]
    return tuple(
        _segment(tuple(spoken[start:end])) for start, end in pairwise(bounds) if end > start
    )


def long_sentences(document: Document, limits: ProseThresholds) -> Iterator[StoryFinding]:
    """Tell of sentences a reader may lose; where they are the rule of the scene, tell it once."""
    longest = sorted(
        (each for each in document.sentences if len(each.words) > limits.long_sentence_words),
        key=lambda each: (-len(each.words), each.line_start),
    )
    spoken = sum(bool(sentence.words) for sentence in document.sentences)
    told_alone = longest[: limits.long_sentences_listed]
    if spoken and len(longest) > max(
        limits.long_sentences_listed, limits.long_sentence_habit_share * spoken
    ):
        yield noticed(
            "long_sentences",
            Severity.INFO,
            f"Long sentences are the habit of this scene: {len(longest)} of {spoken} have more"
            f" than {limits.long_sentence_words} words",
            quotes_of(document, longest, _QUOTES_PER_FINDING),
            "If the cadence is meant, leave it; otherwise divide the longest.",
        )
        told_alone = [each for each in told_alone if _breathless(each) > limits.breathless_words]
    for sentence in told_alone:
        stretch = _breathless(sentence)
        is_breathless = stretch > limits.long_sentence_words
        # What somebody says at length may be how they talk.
        is_minor = is_breathless and not sentence.is_spoken_only
        yield noticed(
            "long_sentence",
            Severity.MINOR if is_minor else Severity.INFO,
            f"A sentence of {len(sentence.words)} words (more than {limits.long_sentence_words})"
            + ("" if is_breathless else f"; its longest stretch without a pause is {stretch}"),
            (document.quote(sentence),),
            "Divide it, or give the reader a place to breathe.",
            1.0 if is_minor else 0.6,
        )


def monotony(
    document: Document, lengths: Lengths, limits: ProseThresholds
) -> Iterator[StoryFinding]:
    """Tell when all sentences are about as long."""
    if len(lengths.counts) < limits.monotony_min_sentences:
        return
    if lengths.stdev < limits.monotony_stdev:
        yield noticed(
            "monotonous_rhythm",
            Severity.MINOR,
            f"{len(lengths.counts)} sentences of nearly one length: {lengths.mean:.1f} words on"
            f" average, standard deviation {lengths.stdev:.1f} (below {limits.monotony_stdev:g})",
            quotes_of(document, document.sentences, _QUOTES_PER_FINDING),
            "Let a long sentence run or a short one stop.",
        )


def opener_runs(narration: Narration, limits: ProseThresholds) -> Iterator[StoryFinding]:
    """Tell of successive sentences that open with one word.

    Pronouns open sentences by nature: their short runs are told together, and only once.
    """
    mild: list[list[NarratedSentence]] = []
    for run in _runs_by_opener(narration):
        if len(run) < limits.opener_run:
            continue
        is_pronoun = first_word(run[0].text).lower() in words_in("grammar", "pronoun_openers")
        if is_pronoun and len(run) < limits.opener_run_pronoun:
            mild.append(run)
            continue
        is_figure = _is_figure(run)
        yield noticed(
            "repeated_opener",
            Severity.INFO if is_figure else Severity.MINOR,
            f"{len(run)} sentences in a row open with “{_shown_opener(run[0])}”"
            + (", as a figure of speech would" if is_figure else ""),
            quotes_of(narration.document, (each.sentence for each in run), 5),
            "Vary the openings unless the repetition is meant.",
            0.4 if is_figure else 0.7,
        )
    if mild:
        words = sorted({first_word(run[0].text) for run in mild})
        yield noticed(
            "repeated_pronoun_opener",
            Severity.INFO,
            f"{len(mild)} {'place' if len(mild) == 1 else 'places'} where {limits.opener_run} or"
            f" more sentences in a row open with {' or '.join(f'“{word}”' for word in words)}",
            quotes_of(narration.document, (run[0].sentence for run in mild), _QUOTES_PER_FINDING),
            "Read them aloud; a changed opening helps where they drum.",
            0.4,
        )


def pace(
    document: Document,
    segments: Sequence[PaceSegment],
    lengths: Lengths,
    limits: ProseThresholds,
) -> Iterator[StoryFinding]:
    """Tell of parts much slower or faster than the rest of the scene."""
    if len(lengths.counts) < limits.pacing_min_sentences:
        return
    for number, segment in enumerate(segments, start=1):
        ratio = segment.mean_words / lengths.mean
        where = f"Part {number} of {len(segments)}"
        if ratio > limits.slow_ratio and segment.dialogue_share < limits.slow_dialogue_share:
            yield noticed(
                "slow_passage",
                Severity.MINOR if ratio > limits.very_slow_ratio else Severity.INFO,
                f"{where} is slow: {segment.mean_words:.0f} words a sentence against"
                f" {lengths.mean:.0f} in the scene, {segment.dialogue_share:.0%} dialogue",
                quotes_of(document, segment.sentences, 2),
                "Check that the scene wants to linger here.",
                0.5,
            )
        elif ratio < limits.fast_ratio:
            yield noticed(
                "fast_passage",
                Severity.INFO,
                f"{where} is fast: {segment.mean_words:.0f} words a sentence against"
                f" {lengths.mean:.0f} in the scene, {segment.dialogue_share:.0%} dialogue",
                quotes_of(document, segment.sentences, 2),
                "",
                0.5,
            )


def _segment(sentences: tuple[Sentence, ...]) -> PaceSegment:
    words = sum(len(sentence.words) for sentence in sentences)
    spoken = sum(len(words_of(each.dialogue)) for each in sentences if each.has_dialogue)
    return PaceSegment(sentences, words / len(sentences), spoken / words)


def _breathless(sentence: Sentence) -> int:
    """Count the words of the longest stretch without a semicolon, colon or dash."""
    return max(len(words_of(part)) for part in _STRONG_STOPS.split(sentence.text))


def _runs_by_opener(narration: Narration) -> Iterator[list[NarratedSentence]]:
    run: list[NarratedSentence] = []
    for told in narration.told:
        if run and _follows(told, run[-1]):
            run.append(told)
            continue
        yield run
        run = [told] if told.opens else []
    yield run


def _follows(told: NarratedSentence, last: NarratedSentence) -> bool:
    return (
        told.opens
        and told.index == last.index + 1
        and told.sentence.paragraph == last.sentence.paragraph
        and _opener(told.text, told.words) == _opener(last.text, last.words)
    )


def _is_figure(run: Sequence[NarratedSentence]) -> bool:
    """Say whether the repetition is most likely meant: questions, or more than one word alike."""
    if all(told.text.rstrip(" ”\"’'").endswith("?") for told in run):
        return True
    is_short = len(run[0].words) < 3
    return not is_short and len({told.words[:3] for told in run}) == 1


def _shown_opener(told: NarratedSentence) -> str:
    return (
        first_word(told.text)
        if " " not in _opener(told.text, told.words)
        else " ".join(told.text.split()[:2])
    )


def _opener(text: str, words: Sequence[str]) -> str:
    """Return what a sentence opens with: an article counts together with the word after it."""
    if words[0] in words_in("grammar", "articles"):
        return " ".join(words[:2])
    return first_word(text).lower() or words[0]
