"""Matching: one form for every way to write a name or a word, and the things that go by it.

Singulars are for matching, not for reading: a word nobody knows may come out odd, but its plural
comes out the same.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from callboard.core.vocabulary import Entity
from callboard.core.words import folded

_IRREGULAR: Final = {
    "buses": "bus", "calves": "calf", "children": "child", "dice": "die", "feet": "foot",
    "gases": "gas", "geese": "goose", "halves": "half", "hooves": "hoof", "knives": "knife",
    "leaves": "leaf", "lenses": "lens", "lives": "life", "loaves": "loaf", "men": "man",
    "mice": "mouse", "octopuses": "octopus", "people": "person", "shelves": "shelf",
    "gnus": "gnu", "menus": "menu", "ponzus": "ponzu", "shoyus": "shoyu", "teeth": "tooth",
    "tofus": "tofu", "wives": "wife", "wolves": "wolf", "women": "woman",
}  # fmt: skip
# Words that end like a plural and are none.
_SAME: Final = frozenset({
    "anis", "basis", "brussels", "cannabis", "cassis", "chablis", "chassis", "christmas",
    "crisis", "does", "gas", "gras", "haggis", "has", "his", "iris", "lens", "mars", "molasses",
    "news", "oasis", "paris", "series", "species", "swiss", "tennis", "texas", "this", "was",
    "yes",
})  # fmt: skip
_KEEPS_IE: Final = frozenset({
    "brie", "brownie", "calorie", "cookie", "die", "genie", "hoodie", "lie", "movie", "pie",
    "pixie", "prairie", "quickie", "selfie", "smoothie", "sortie", "sweetie", "tie", "veggie",
    "zombie",
})  # fmt: skip
_KEEPS_E: Final = frozenset({
    "ache", "aloe", "avalanche", "axe", "bouillabaisse", "brioche", "cache", "canoe", "ceviche",
    "cliche", "foe", "fraiche", "ganache", "headache", "hoe", "leche", "niche", "oboe",
    "pastiche", "quiche", "roe", "shoe", "tiptoe", "toe",
})  # fmt: skip
_IES: Final = re.compile(r"[^aeiou]ies$")
_ES: Final = re.compile(r"(?:ss|x|zz|tz|ch|sh|o)es$")
_SHORTEST: Final = 4


@lru_cache(maxsize=65_536)
def singular(word: str) -> str:
    """Return a lower-case word as one of its kind."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    is_plural = word.endswith("s") and not word.endswith(("ss", "us")) and word not in _SAME
    if len(word) < _SHORTEST or not is_plural or not word.isascii():
        return word
    bare = word[:-1]
    if _IES.search(word):
        return bare if bare in _KEEPS_IE else f"{word[:-3]}y"
    if _ES.search(word):
        return bare if bare in _KEEPS_E else word[:-2]
    return bare


_FUZZY_FROM: Final = 85
_WORD: Final = re.compile(r"\w+", re.UNICODE)
_ARTICLE: Final = re.compile(r"^(?:the|that|this|a|an|my|our) (?=\w)")
_ORDINALS: Final = {
    "first": 0,
    "second": 1,
    "third": 2,
    "fourth": 3,
    "fifth": 4,
    "sixth": 5,
    "seventh": 6,
    "eighth": 7,
    "ninth": 8,
    "tenth": 9,
    "last": -1,
}
_NUMBERED: Final = re.compile(
    r"(?:#|number |no\. ?|option )(\d{1,2})\b|\b(\d{1,2})(?:st|nd|rd|th)\b"
)


def by_label(entities: Sequence[Entity], text: str) -> tuple[Entity, ...]:
    """Return the things a text names, the best match first; nothing if none is near enough."""
    from rapidfuzz import fuzz

    wanted = _ARTICLE.sub("", text.casefold().strip())
    if not wanted:
        return ()
    exact = tuple(each for each in entities if each.label.casefold() == wanted)
    if exact:
        return exact
    scored = [
        (max(fuzz.ratio(wanted, label), _contained(wanted, label)), index, each)
        for index, each in enumerate(entities)
        if (label := each.label.casefold())
    ]
    near = sorted((s for s in scored if s[0] >= _FUZZY_FROM), key=lambda s: (-s[0], s[1]))
    return tuple(each for _, _, each in near)


def by_ordinal(entities: Sequence[Entity], text: str) -> Entity | None:
    """Return the thing a text points at by its place in the row: the first, #2, the last one."""
    position = ordinal_in(text)
    if position is None or not entities:
        return None
    return entities[position] if -len(entities) <= position < len(entities) else None


def ordinal_in(text: str) -> int | None:
    """Return the place in a row that a text names, counted from 0, or -1 for the last."""
    folded = text.casefold()
    numbered = _NUMBERED.search(folded)
    if numbered is not None:
        return int(numbered[1] or numbered[2]) - 1
    for word in _WORD.findall(folded):
        if word in _ORDINALS:
            return _ORDINALS[word]
    return None


def of_class(entities: Sequence[Entity], noun: str) -> tuple[Entity, ...]:
    """Return everything of a kind: its label or a tag holds the noun, singular or plural."""
    wanted = singular_words(noun)
    if not wanted:
        return ()
    return tuple(
        each
        for each in entities
        if _holds(singular_words(each.label), wanted)
        or any(_holds(singular_words(tag), wanted) for tag in each.tags)
    )


@lru_cache(maxsize=65_536)
def singular_words(text: str) -> tuple[str, ...]:
    """Return the words of a text, each as one of its kind."""
    return tuple(singular(word) for word in _WORD.findall(text.casefold()))


def _holds(words: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    size = len(wanted)
    return any(words[at : at + size] == wanted for at in range(len(words) - size + 1))


def _contained(wanted: str, label: str) -> float:
    """Score a name that is part of a label: two shared words say more than one."""
    words, others = set(_WORD.findall(wanted)), set(_WORD.findall(label))
    return 90.0 if words and words <= others else 0.0


_SPACE: Final = re.compile(r"\s+")


def name_key(name: str) -> str:
    """Return a name's key: compatibility form, no case, singular words, single spaces.

    A name without a single word keeps its signs, so that an emoji is a name too.
    """
    plain = folded(name).strip()
    # Word by word: words come again and are remembered, whole names hardly ever.
    words = [one for word in _WORD.findall(plain) for one in singular_words(word)]
    return " ".join(words) or _SPACE.sub(" ", plain)
