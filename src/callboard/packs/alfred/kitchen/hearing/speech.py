"""Speech: a message in full words, and as the row of kinds of words it is made of.

It knows how people shorten and spell things, and what a word is: a food, a number, a day, a place.
What is wanted by it is for others to say.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final

from callboard.core.bundled import bundled_yaml
from callboard.knowledge.entities.matching import singular_words
from callboard.packs.alfred.kitchen.compute.amounts import is_known_unit
from callboard.packs.alfred.kitchen.food.foods import OTHER, food_facts, is_listed, listed_words
from callboard.packs.alfred.kitchen.food.groups import allergens_in
from callboard.packs.alfred.kitchen.food.spelling import near

_WORD: Final = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|\d+(?:[.,/:]\d+)*|[?!]")
_LONGEST_FOOD: Final = 3
# Shorter words come near to too many others.
_LEAST_MISSPELLED: Final = 6


def lexicon() -> dict[str, Any]:
    """Return the words of a kitchen by what they do."""
    return bundled_yaml("callboard.packs.alfred.kitchen.hearing", "lexicon.yaml")


def full_words(text: str) -> str:
    """Return a text with its shortened words written out and its pictures named."""
    plain = with_names(text.replace("’", "'").replace("\u00a0", " "))
    for pattern, instead in _spelled():
        plain = pattern.sub(instead, plain)
    return " ".join(plain.split(" ")).strip()


def with_names(text: str) -> str:
    """Return a text with the names of its pictures."""
    if text.isascii():
        return text
    for sign, name in lexicon()["pictures"].items():
        text = text.replace(sign, f" {name} ")
    return _pictures_counted(text)


def _pictures_counted(text: str) -> str:
    """Count a picture that stands several times: two bananas."""
    names = "|".join(sorted(set(lexicon()["pictures"].values())))
    return re.sub(
        rf"\b({names})((?:\s{{1,4}}\1\b){{1,19}})",
        lambda found: f"{len(found[2].split()) + 1} {found[1]}",
        text,
    )


@cache
def _spelled() -> Sequence[tuple[re.Pattern[str], str]]:
    listed: list[list[str]] = lexicon()["spelled"]
    return [(re.compile(pattern, re.I), instead) for pattern, instead in listed]


@lru_cache(maxsize=2_000)
def kinds_of_words(text: str) -> tuple[str, ...]:
    """Return the words of a text, with foods, numbers, days and places as what they are."""
    words = [found[0] for found in _WORD.finditer(full_words(text))]
    row: list[str] = []
    at = 0
    while at < len(words):
        size = food_at(words, at)
        if size:
            if not row or row[-1] != "<food>":
                row.append("<food>")
            at += size
            continue
        row.append(_kind_of(words[at]))
        at += 1
    return tuple(row)


def food_at(words: Sequence[str], at: int) -> int:
    """Return how many words from here on name one food; none if none do."""
    for size in range(min(_LONGEST_FOOD, len(words) - at), 0, -1):
        part = " ".join(words[at : at + size])
        if is_listed(part) and (size > 1 or part.casefold() not in _no_foods()):
            return size
    return 1 if is_misspelled_food(words[at]) else 0


@lru_cache(maxsize=5_000)
def food_meant(word: str) -> str | None:
    """Return the food a word was meant to be, if it is no other word and one slip away."""
    folded = word.casefold()
    if len(folded) < _LEAST_MISSPELLED or not folded.isalpha() or folded in _known():
        return None
    single = "".join(singular_words(folded))
    return None if single in listed_words() else near(single, listed_words())


def is_misspelled_food(word: str) -> bool:
    """Say whether a word is no other word, and one slip away from a food."""
    return food_meant(word) is not None


def is_known_thing(name: str) -> bool:
    """Say whether a name is one of something a kitchen keeps, as far as the lexicon goes."""
    if food_facts(name).category != OTHER:
        return not (" " not in name.strip() and name.strip().casefold() in _no_foods())
    return bool(allergens_in(name))


def is_thing(name: str) -> bool:
    """Say the same, and of names with a slip in them."""
    return is_known_thing(name) or any(map(is_misspelled_food, name.split()))


def _kind_of(word: str) -> str:
    folded = word.casefold()
    if folded[0].isdigit():
        return "<number>"
    kind = _kinds().get(folded)
    if kind is not None:
        return kind
    if is_known_unit(folded) and folded not in _no_foods():
        return "<unit>"
    return folded


@cache
def _kinds() -> Mapping[str, str]:
    groups: Mapping[str, Sequence[str]] = lexicon()["kinds"]
    return {word: f"<{kind}>" for kind, listed in groups.items() for word in listed}


@cache
def _no_foods() -> frozenset[str]:
    return frozenset(lexicon()["no_foods"])


@cache
def _known() -> frozenset[str]:
    """Return the words that are written as they should be, as far as phrases here have them."""
    listed: Sequence[str] = lexicon()["common"]
    phrases = [
        word for each in lexicon()["acts"].values() for said in each for word in said.split()
    ]
    return frozenset([*listed, *phrases, *_kinds(), *_no_foods()])


@cache
def asking() -> frozenset[str]:
    """Return the words a question begins with."""
    return frozenset(lexicon()["asking"])


@cache
def _acts() -> Mapping[tuple[str, ...], str]:
    acts: Mapping[str, Sequence[str]] = lexicon()["acts"]
    return {tuple(said.split()): act for act, said_so in acts.items() for said in said_so}


@cache
def _phrases(group: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(said.split()) for said in lexicon()[group])


_LONGEST_ACT: Final = 5


def act_at(words: Sequence[str], at: int) -> tuple[int, str] | None:
    """Return over how many words something is done from here on, and what; the longest counts."""
    for size in range(min(_LONGEST_ACT, len(words) - at), 0, -1):
        act = _acts().get(tuple(words[at : at + size]))
        if act is not None:
            return size, act
    return None


def phrases(group: str, words: Sequence[str]) -> list[str]:
    """Return the phrases of a group that stand in a row of words."""
    listed = _phrases(group)
    return [
        " ".join(words[at : at + size])
        for at in range(len(words))
        for size in range(1, min(3, len(words) - at) + 1)
        if tuple(words[at : at + size]) in listed
    ]


def acts_in(words: Sequence[str]) -> list[str]:
    """Return what the words of a sentence do, in their order, and what undoes that."""
    found: list[str] = []
    at = 0
    while at < len(words):
        act = act_at(words, at)
        if act is not None:
            found.append(act[1])
        at += 1 if act is None else act[0]
    marks = (("unreal", "unreal"), ("gone", "gone"))
    return found + [mark for group, mark in marks if phrases(group, words)]


_POLITE: Final = re.compile(
    r"^(?:(?:please|hey|hi|hello|ok|okay|alfred|can you|could you|would you|will you|i'd like to"
    r"|i want to|i would like to|let's|lets)[,:]?\s+)+",
    re.IGNORECASE,
)


_GAP: Final = re.compile(r"\s{3,}")


_MOST_THANKS: Final = 4
_THANKS: Final = re.compile(r"[,\s](?:please|thanks|thank you|alfred)$", re.IGNORECASE)


# What people call some foods for short.
_MEANT: Final = {
    "spuds": "potatoes", "tatties": "potatoes", "toms": "tomatoes", "avos": "avocados",
    "marge": "margarine", "cukes": "cucumbers",
}  # fmt: skip
_SHORT: Final = re.compile(rf"\b(?:{'|'.join(_MEANT)})\b", re.I)


def tidy(message: str) -> str:
    """Return a message without what is only polite; the rest stays as it was written."""
    text = message.replace("’", "'").replace("\x00", "").strip()
    # Nobody means anything by a gap; the forms of requests would try every way to share it out.
    text = _SHORT.sub(lambda found: _MEANT[found[0].casefold()], text)
    text = _GAP.sub(lambda gap: "\n" if "\n" in gap[0] else " ", text)
    for _ in range(_MOST_THANKS):
        text = _THANKS.sub("", text.strip(" \t\n.!?,"))
    return _POLITE.sub("", text).strip()
