"""Scores by code: what can be said of a passage without a judge, each with a sentence of it.

They stand where no judge can be believed, and they make the reductions nobody can argue with.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Final

from callboard.library.story.text import Document, content_stems
from callboard.library.story.text.sentences import Sentence
from callboard.packs.writers_factory.prose import (
    PatternHit,
    PatternSeverity,
    PatternSheet,
    Stylometrics,
    distance,
    measure,
    scan,
)
from callboard.packs.writers_factory.prose.reading import metaphor_domains, words_in
from callboard.packs.writers_factory.voice.tournament.variants import DIMENSIONS, DimensionScore
from callboard.replies.evidence import is_quotable

COSTS: Final[Mapping[PatternSeverity, int]] = {
    PatternSeverity.ZERO_TOLERANCE: 10,
    PatternSeverity.DEDUCTION: 2,
}
_QUOTE_WORDS: Final = 40


@dataclass(frozen=True)
class Scored:
    """A passage while code judges it."""

    text: str
    # What the passage was asked for: brief, context and genre.
    brief: str
    sheet: PatternSheet

    @cached_property
    def metrics(self) -> Stylometrics:
        """The passage in numbers."""
        return measure(self.text)

    @cached_property
    def hits(self) -> tuple[PatternHit, ...]:
        """What the sheet warns of and the passage does."""
        return scan(self.text, patterns=self.sheet)

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences that can be quoted: long enough to prove something, short enough to read.

        Where none is, the longest stands for all.
        """
        found = Document("passage", self.text).sentences
        fit = tuple(s for s in found if is_quotable(s.text) and len(s.words) <= _QUOTE_WORDS)
        return fit or tuple(sorted(found, key=lambda s: -len(s.words))[:1])

    def scores(self) -> tuple[DimensionScore, ...]:
        """Return the six scores, before anything is taken off."""
        return tuple(
            DimensionScore(
                dimension,
                round(most * _clamped(_SHARES[dimension](self)), 1),
                most,
                self.quote_for(dimension),
                _REASONS[dimension],
            )
            for dimension, most in DIMENSIONS.items()
        )

    def quote_for(self, dimension: str) -> str:
        """Return the sentence that shows a dimension best."""
        if not self.sentences:
            return ""
        weigh = _WEIGHTS[dimension]
        best = max(enumerate(self.sentences), key=lambda each: (weigh(self, each[1]), -each[0]))
        return best[1].text

    def candidates(self, limit: int) -> tuple[str, ...]:
        """Return sentences a small judge may pick from, spread over the passage."""
        texts = list(dict.fromkeys(sentence.text for sentence in self.sentences))
        if len(texts) <= limit:
            return tuple(texts)
        return tuple(texts[n * len(texts) // limit] for n in range(limit))


def reduced(
    scores: Sequence[DimensionScore], hits: Sequence[PatternHit]
) -> tuple[DimensionScore, ...]:
    """Take off prose quality what the hits cost; nothing goes below zero."""
    cost = sum(COSTS[hit.severity] for hit in hits)
    return tuple(
        replace(
            each,
            score=max(0.0, round(each.score - cost, 1)),
            reason=f"{each.reason} ({cost} off for {len(hits)} of the sheet's patterns)".strip(),
        )
        if each.dimension == "prose_quality" and hits
        else each
        for each in scores
    )


def metaphor_fields(text: str, limit: int = 3) -> tuple[str, ...]:
    """Return the fields a text draws its images from, the richest first."""
    words = [word for sentence in Document("text", text).sentences for word in sentence.words]
    counts = {
        name: sum(word in known for word in words) for name, known in metaphor_domains().items()
    }
    found = sorted((name for name, n in counts.items() if n), key=lambda name: -counts[name])
    return tuple(found[:limit])


@cache
def _images() -> frozenset[str]:
    return frozenset[str]().union(*metaphor_domains().values())


def _clamped(share: float) -> float:
    return min(1.0, max(0.0, share))


def _near(value: float, wanted: float, span: float) -> float:
    return 1 - min(1.0, abs(value - wanted) / span)


def _stems(text: str) -> frozenset[str]:
    words = (word for s in Document("text", text).sentences for word in s.words)
    return content_stems(words, min_letters=4)


def _authenticity(passage: Scored) -> float:
    """A voice holds: both halves of the passage sound like one teller."""
    half = len(passage.sentences) // 2
    first = measure(" ".join(s.text for s in passage.sentences[:half]))
    second = measure(" ".join(s.text for s in passage.sentences[half:]))
    images = len(metaphor_fields(passage.text, 5))
    return 0.35 + 0.35 * (1 - distance(first, second)) + 0.05 * images


def _quality(passage: Scored) -> float:
    told = passage.metrics
    return 0.4 + 0.3 * _near(told.adverbs_per_1000, 6, 30) + 0.3 * _near(told.vocabulary, 0.75, 0.3)


def _rhythm(passage: Scored) -> float:
    told = passage.metrics
    varied = told.sd_sentence_words / told.mean_sentence_words if told.mean_sentence_words else 0
    return 0.2 + 0.8 * _near(varied, 0.65, 0.65)


def _interiority(passage: Scored) -> float:
    return 0.25 + 0.75 * min(1.0, passage.metrics.inner_per_1000 / 25)


def _dialogue(passage: Scored) -> float:
    return 0.3 + 0.7 * _near(passage.metrics.dialogue_share, 0.35, 0.4)


def _fit(passage: Scored) -> float:
    wanted = _stems(passage.brief)
    held = len(wanted & _stems(passage.text)) / len(wanted) if wanted else 0.5
    return 0.2 + 0.8 * held


_SHARES: Final[Mapping[str, Callable[[Scored], float]]] = {
    "voice_authenticity": _authenticity,
    "prose_quality": _quality,
    "rhythm": _rhythm,
    "interiority": _interiority,
    "dialogue": _dialogue,
    "genre_and_world_fit": _fit,
}
_REASONS: Final[Mapping[str, str]] = {
    "voice_authenticity": "how alike the two halves sound, and how many fields feed its images",
    "prose_quality": "adverbs and vocabulary",
    "rhythm": "how much the length of sentences varies",
    "interiority": "words of thought and feeling",
    "dialogue": "how much of it is spoken",
    "genre_and_world_fit": "how many words of the brief it takes up",
}
_WEIGHTS: Final[Mapping[str, Callable[[Scored, Sentence], float]]] = {
    "voice_authenticity": lambda _, s: sum(word in _images() for word in s.words),
    "prose_quality": lambda _, s: len(set(s.words)) / max(8, len(s.words)),
    "rhythm": lambda passage, s: abs(len(s.words) - passage.metrics.mean_sentence_words),
    "interiority": lambda _, s: sum(word in words_in("inner_words") for word in s.words),
    "dialogue": lambda _, s: len(s.dialogue),
    "genre_and_world_fit": lambda passage, s: len(_stems(passage.brief) & _stems(s.text)),
}
