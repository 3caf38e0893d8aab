"""Stylometry: a text in numbers, and how far two texts are apart. English; judges nothing."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean, pstdev
from typing import Final

from callboard.core.codec import Coded
from callboard.library.story.text import Document
from callboard.library.story.text.words import words_of
from callboard.library.story.tools.prose.diction import adverbs
from callboard.library.story.tools.prose.voice import (
    narration_of,
    person_of,
    proper_words,
    tenses_of,
)
from callboard.packs.writers_factory.prose.checks import similes
from callboard.packs.writers_factory.prose.reading import ProseReading, ordered_words, words_in

_SHORT_WORDS: Final = 6
_LONG_WORDS: Final = 25
_WINDOW_WORDS: Final = 100
_UNKNOWN: Final = "unknown"
# What counts how much; the figures of the telling before those of the vocabulary.
_WEIGHTS: Final[Mapping[str, float]] = {
    "mean_sentence_words": 3,
    "sd_sentence_words": 2,
    "short_share": 1,
    "long_share": 1,
    "dialogue_share": 2,
    "adverbs_per_1000": 1,
    "similes_per_1000": 1,
    "inner_per_1000": 1,
    "mean_word_chars": 1,
    "commas_per_sentence": 1,
    "vocabulary": 1,
    "pov": 2,
    "tense": 2,
    "grammar": 3,
}
# A difference this large is as large as can be.
_SPANS: Final[Mapping[str, float]] = {
    "mean_sentence_words": 14,
    "sd_sentence_words": 10,
    "short_share": 0.5,
    "long_share": 0.4,
    "dialogue_share": 0.6,
    "adverbs_per_1000": 20,
    "similes_per_1000": 12,
    "inner_per_1000": 40,
    "mean_word_chars": 0.9,
    "commas_per_sentence": 1.5,
    "vocabulary": 0.25,
}
_GRAMMAR_SPAN: Final = 0.25
# Below this many words the grammar of a text is chance.
_LEAST_GRAMMAR_WORDS: Final = 80


@dataclass(frozen=True, slots=True)
class Stylometrics(Coded):
    """A text in numbers."""

    words: int = 0
    sentences: int = 0
    mean_sentence_words: float = 0.0
    sd_sentence_words: float = 0.0
    short_share: float = 0.0
    long_share: float = 0.0
    dialogue_share: float = 0.0
    adverbs_per_1000: float = 0.0
    similes_per_1000: float = 0.0
    inner_per_1000: float = 0.0
    mean_word_chars: float = 0.0
    commas_per_sentence: float = 0.0
    # How many different words there are among a hundred, on average.
    vocabulary: float = 0.0
    pov: str = _UNKNOWN
    tense: str = _UNKNOWN
    grammar: Mapping[str, float] = field(default_factory=dict[str, float])


def measure(text: str) -> Stylometrics:
    """Return the numbers of a scene or a passage."""
    document = Document("text", text)
    words = words_of(document.prose)
    lengths = [len(sentence.words) for sentence in document.sentences if sentence.words]
    if not words or not lengths:
        return Stylometrics()
    narration = narration_of(document)
    person, _ = person_of(narration)
    names = proper_words(document)
    tense = tenses_of(narration, person, names).majority
    per_1000 = 1000 / len(words)
    compared = sum(1 for p in ProseReading(text).paragraphs for _ in similes(p.narration))
    inner = sum(word in words_in("inner_words") for word in words)
    return Stylometrics(
        words=len(words),
        sentences=len(lengths),
        mean_sentence_words=_round(fmean(lengths)),
        sd_sentence_words=_round(pstdev(lengths)),
        short_share=_share(lengths, at_most=_SHORT_WORDS),
        long_share=_share(lengths, at_least=_LONG_WORDS),
        dialogue_share=_round(1 - narration.word_count / len(words)),
        adverbs_per_1000=_round(adverbs(narration, names).count * per_1000),
        similes_per_1000=_round(compared * per_1000),
        inner_per_1000=_round(inner * per_1000),
        mean_word_chars=_round(fmean(len(word) for word in words)),
        commas_per_sentence=_round(document.prose.count(",") / len(lengths)),
        vocabulary=_vocabulary(words),
        pov=person,
        tense=tense,
        grammar=_grammar(words),
    )


def distance(a: Stylometrics, b: Stylometrics) -> float:
    """Return how far two texts are apart: 0 the same numbers, 1 nothing in common."""
    total = weight = 0.0
    for name, counts in _WEIGHTS.items():
        apart = _apart(name, a, b)
        if apart is not None:
            total += counts * apart
            weight += counts
    return _round(total / weight) if weight else 0.0


def person_in(document: Document) -> str:
    """Return in which person a document is told."""
    person, _ = person_of(narration_of(document))
    return person


def _apart(name: str, a: Stylometrics, b: Stylometrics) -> float | None:
    """Return how far apart one figure is, or None where one of the two has none."""
    if name in ("pov", "tense"):
        one, other = getattr(a, name), getattr(b, name)
        return None if _UNKNOWN in (one, other) else float(one != other)
    if name == "grammar":
        return _grammar_apart(a, b)
    return min(1.0, abs(getattr(a, name) - getattr(b, name)) / _SPANS[name])


def _grammar_apart(a: Stylometrics, b: Stylometrics) -> float | None:
    if min(a.words, b.words) < _LEAST_GRAMMAR_WORDS:
        return None
    names = set(a.grammar) | set(b.grammar)
    apart = sum(abs(a.grammar.get(n, 0.0) - b.grammar.get(n, 0.0)) for n in sorted(names))
    return min(1.0, apart / _GRAMMAR_SPAN)


def _grammar(words: tuple[str, ...]) -> dict[str, float]:
    counts = Counter(words)
    return {word: _round(counts[word] / len(words)) for word in ordered_words("grammar_profile")}


def _vocabulary(words: tuple[str, ...]) -> float:
    if len(words) <= _WINDOW_WORDS:
        return _round(len(set(words)) / len(words))
    step = _WINDOW_WORDS // 2
    starts = range(0, len(words) - _WINDOW_WORDS + 1, step)
    return _round(fmean(len(set(words[s : s + _WINDOW_WORDS])) / _WINDOW_WORDS for s in starts))


def _share(lengths: list[int], *, at_most: int | None = None, at_least: int = 0) -> float:
    inside = [n for n in lengths if n >= at_least and (at_most is None or n <= at_most)]
    return _round(len(inside) / len(lengths))


def _round(value: float) -> float:
    return round(value, 4)
