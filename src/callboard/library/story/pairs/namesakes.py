"""Namesakes: names that occur once or twice and are nearly another: a slip, or another person."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from callboard.library.story.facts.grammar import titles
from callboard.library.story.pairs.passages import Statement

_NAME: Final = re.compile(r"[A-Z][a-z’'-]+\.?(?: [A-Z][a-z’-]+){1,3}")
# One name alone: within a sentence, or called at the start of what is said.
_ALONE: Final = re.compile(
    r"(?:(?<=[a-z,;] )|(?<=[“\"]))(?P<name>[A-Z][a-z’-]{2,})(?=\W)(?! [A-Z])"
)
_SMALL: Final = re.compile(r"\b[a-z]{3,}\b")
_OWNED: Final = re.compile(r"['’]s$|\.$")
# A name that occurs no more often may be a slip; it is held against so many others.
_RARE: Final = 2
_OTHERS: Final = 3
# Names that begin alike, by so many letters, or go by one title, may be one name.
_ALIKE_LETTERS: Final = 3
_BEGINS_ALIKE: Final = 0.4
_ONE_TITLE: Final = 0.3

Name = tuple[str, ...]


def similar_names(
    passages: Sequence[Statement],
) -> Iterator[tuple[Statement, Statement, str, float]]:
    """Yield where a rare name stands, where one like it was first used, that one and a score."""
    places = _places(passages)
    by_word: dict[str, list[Name]] = defaultdict(list)
    for name in places:
        for word in name:
            by_word[word].append(name)
            by_word[word[:_ALIKE_LETTERS]].append(name)
    for name, held in places.items():
        if len(held) <= _RARE:
            for other, score in _alike(name, by_word, places):
                for each in held:
                    for met in _partners(each, places[other]):
                        yield each, met, " ".join(other), score


def _places(passages: Sequence[Statement]) -> Mapping[Name, list[Statement]]:
    """Return where each name stands; a word that is also written small is none."""
    places: dict[Name, list[Statement]] = defaultdict(list)
    small = {word for passage in passages for word in _SMALL.findall(passage.quote.text)}
    for passage in passages:
        for match in _NAME.finditer(passage.quote.text):
            places[tuple(_OWNED.sub("", word) for word in match[0].split())].append(passage)
        for match in _ALONE.finditer(passage.quote.text):
            if match["name"].lower() not in small:
                places[(_OWNED.sub("", match["name"]),)].append(passage)
    return places


def _partners(passage: Statement, others: Sequence[Statement]) -> list[Statement]:
    """Return where a name is first met, and where it is met in most alike words."""
    nearest = max(others, key=lambda each: len(each.stems & passage.stems))
    return [each for each in dict.fromkeys((others[0], nearest)) if each != passage]


def _alike(
    name: Name, by_word: Mapping[str, Sequence[Name]], places: Mapping[Name, Sequence[Statement]]
) -> list[tuple[Name, float]]:
    found: dict[Name, float] = {}
    keys = [key for word in name for key in (word, word[:_ALIKE_LETTERS])]
    for other in (each for key in keys for each in by_word.get(key, ())):
        if set(name) <= set(other) or set(other) <= set(name):
            continue
        alike = _likeness(name, other)
        if alike:
            found[other] = alike + 0.05 * min(len(places[other]), 10)
    return sorted(found.items(), key=lambda each: (-each[1], each[0]))[:_OTHERS]


def _likeness(name: Name, other: Name) -> float:
    """Say how much of two names is one: a whole word most, then letters, then a title."""
    mine, theirs = (
        {word for word in each if word.lower() not in titles()} for each in (name, other)
    )
    if mine & theirs:
        return len(set(name) & set(other)) / max(len(name), len(other))
    if any(one[:_ALIKE_LETTERS] == word[:_ALIKE_LETTERS] for one in mine for word in theirs):
        return _BEGINS_ALIKE
    return _ONE_TITLE if set(name) & set(other) else 0.0
