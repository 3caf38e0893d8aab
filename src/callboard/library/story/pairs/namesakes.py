"""Namesakes: names that occur once or twice and are nearly somebody's: a slip, or another person."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from callboard.library.story.facts.grammar import titles
from callboard.library.story.pairs.matters import Matter
from callboard.library.story.pairs.passages import Passage

_NAME: Final = re.compile(r"[A-Z][a-z’'-]+\.?(?: [A-Z][a-z’-]+){0,3}")
_RARE: Final = 2
_FEWEST: Final = 3


def similar_names(passages: Sequence[Passage]) -> Iterator[tuple[Passage, Passage, str, float]]:
    """Pair where a rare name stands with where the name it resembles was first used."""
    places: dict[tuple[str, ...], list[Passage]] = defaultdict(list)
    for passage in passages:
        for match in _NAME.finditer(passage.quote.text):
            words = tuple(word.rstrip(".").removesuffix("’s").removesuffix("'s") for word in match[0].split())
            if len(words) > 1:
                places[words].append(passage)
    known = {words: held for words, held in places.items()}
    by_word: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for words in known:
        for word in words:
            if word.lower() not in titles():
                by_word[word].append(words)
    for words, held in known.items():
        if len(held) > _RARE:
            continue
        for other, score in _alike(words, by_word, known):
            first = known[other][0]
            for passage in held:
                if passage is not first:
                    yield passage, first, " ".join(other), score


def _alike(
    words: tuple[str, ...],
    by_word: Mapping[str, Sequence[tuple[str, ...]]],
    known: Mapping[tuple[str, ...], Sequence[Passage]],
) -> list[tuple[tuple[str, ...], float]]:
    found: dict[tuple[str, ...], float] = {}
    for word in words:
        for other in by_word.get(word, ()):
            if other != words and not (set(other) <= set(words) or set(words) <= set(other)):
                found[other] = 1.0 + 0.1 * min(len(known[other]), 10)
    return sorted(found.items(), key=lambda each: -each[1])[:3]
