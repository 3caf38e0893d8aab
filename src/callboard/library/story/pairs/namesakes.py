"""Namesakes: names that occur once or twice and are nearly another: a slip, or another person."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from callboard.library.story.facts.grammar import titles
from callboard.library.story.pairs.passages import Statement

_NAME: Final = re.compile(r"[A-Z][a-z’'-]+\.?(?: [A-Z][a-z’-]+){1,3}")
_OWNED: Final = re.compile(r"['’]s$|\.$")
# A name that occurs no more often may be a slip; it is held against so many others.
_RARE: Final = 2
_OTHERS: Final = 3

Name = tuple[str, ...]


def similar_names(
    passages: Sequence[Statement],
) -> Iterator[tuple[Statement, Statement, str, float]]:
    """Yield where a rare name stands, where one like it was first used, that one and a score."""
    places: dict[Name, list[Statement]] = defaultdict(list)
    for passage in passages:
        for match in _NAME.finditer(passage.quote.text):
            places[tuple(_OWNED.sub("", word) for word in match[0].split())].append(passage)
    by_word: dict[str, list[Name]] = defaultdict(list)
    for name in places:
        for word in name:
            if word.lower() not in titles():
                by_word[word].append(name)
    for name, held in places.items():
        if len(held) <= _RARE:
            for other, score in _alike(name, by_word, places):
                first = places[other][0]
                yield from ((each, first, " ".join(other), score) for each in held if each != first)


def _alike(
    name: Name, by_word: Mapping[str, Sequence[Name]], places: Mapping[Name, Sequence[Statement]]
) -> list[tuple[Name, float]]:
    found: dict[Name, float] = {}
    for other in (each for word in name for each in by_word.get(word, ())):
        shared = len(set(name) & set(other))
        if shared < min(len(set(name)), len(set(other))):
            found[other] = shared / max(len(name), len(other)) + 0.05 * min(len(places[other]), 10)
    return sorted(found.items(), key=lambda each: (-each[1], each[0]))[:_OTHERS]
