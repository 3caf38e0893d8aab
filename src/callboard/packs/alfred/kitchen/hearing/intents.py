"""Intents: what is most likely wanted by a sentence, by weights learned from labelled sentences.

A guess with its certainty. `tools/kitchen_intents.py` learns the weights; nothing is learned while
Alfred runs, and nothing is done here.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from callboard.packs.alfred.kitchen.hearing.speech import acts_in, asking, kinds_of_words

_SCALE: Final = 100.0
_STEM: Final = 4
_LEAST_STEMMED: Final = 6
_LONGEST: Final = 60


@dataclass(frozen=True, slots=True)
class Guess:
    """What is wanted, the likeliest first, with how sure that is."""

    ranked: tuple[tuple[str, float], ...]

    @property
    def intent(self) -> str:
        """The likeliest."""
        return self.ranked[0][0]

    @property
    def certainty(self) -> float:
        """How sure the likeliest is, from 0 to 1."""
        return self.ranked[0][1]

    def of(self, *intents: str) -> float:
        """Return how sure it is that one of some intents is meant."""
        return sum(value for intent, value in self.ranked if intent in intents)


def guess_intent(text: str) -> Guess:
    """Return what a sentence most likely wants; of words nobody has seen, nobody can tell."""
    weights = _weights()
    known, intents = weights["features"], weights["intents"]
    if not any(word in known for word in kinds_of_words(text)):
        return Guess(tuple((each, 1 / len(intents)) for each in intents))
    return rank(features(text), known, intents, _SCALE)


def rank(
    found: Sequence[str],
    weights: Mapping[str, Sequence[float]],
    intents: Sequence[str],
    scale: float = 1.0,
) -> Guess:
    """Return the intents by what the features of a sentence weigh for each."""
    sums = [0.0] * len(intents)
    for name in found:
        row = weights.get(name)
        if row is not None:
            for at, weight in enumerate(row):
                sums[at] += weight
    top = max(sums)
    raised = [math.exp((each - top) / scale) for each in sums]
    total = sum(raised)
    ranked = sorted(zip(intents, (each / total for each in raised), strict=True), key=_by_weight)
    return Guess(tuple(ranked))


def _by_weight(each: tuple[str, float]) -> tuple[float, str]:
    return -each[1], each[0]


def features(text: str) -> list[str]:
    """Return what is looked at in a sentence: its words, pairs of them, its beginning and end."""
    words = kinds_of_words(text)[:_LONGEST]
    return sorted({*_features(words), *_shape(words)})


def _shape(words: Sequence[str]) -> Iterator[str]:
    """Yield what carries over to words never seen: what is done, in which kind of sentence."""
    acts = list(dict.fromkeys(acts_in(words)))
    yield from (f"#{act}" for act in acts)
    kinds = [
        each
        for each in ("<food>", "<day>", "<place>", "<dish>", "<number>", "list")
        if each in words
    ]
    mood = "?" if "?" in words else "." if not words or words[0] not in asking() else "??"
    yield f"mood {mood}"
    yield f"mood {mood} {words[0] if words else ''}"
    yield f"shape {mood} {'+'.join(acts[:2])}"
    yield f"kinds {'+'.join(kinds)}"
    for act in acts:
        yield from (f"#{act} {kind}" for kind in kinds)
        yield f"#{act} {mood}"


def _features(words: Sequence[str]) -> Iterator[str]:
    yield "*"
    yield f"n{min(len(words), 6)}"
    row = ["^", *words, "$"]
    for at, word in enumerate(row[1:-1], 1):
        yield word
        if len(word) >= _LEAST_STEMMED and not word.startswith("<"):
            yield f"{word[:_STEM]}-"
        yield f"{row[at - 1]} {word}"
    yield f"{row[-2]} $"
    for at in range(len(row) - 2):
        yield " ".join(row[at : at + 3])


@cache
def _weights() -> Any:
    told = files("callboard.packs.alfred.kitchen.hearing").joinpath("intents.json")
    return json.loads(told.read_text("utf-8"))
