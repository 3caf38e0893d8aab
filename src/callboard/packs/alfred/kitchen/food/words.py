"""Words of food: which names mean which food, what is in it, and what a diet rules out."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final

from callboard.core.bundled import bundled_yaml
from callboard.core.canonical import composed
from callboard.knowledge.entities.matching import singular_words

Words = tuple[str, ...]
# Shorter names grown together with others are listed one by one: `nut` is in too many words.
_LEAST_GROWN: Final = 5
_LONGEST_NAME: Final = 5
_WORD: Final = re.compile(r"\w+")
# How far `gluten-free` reaches: over `gluten-free all purpose flour`.
_FREE_REACH: Final = 4
_FREE: Final = "free"
# Foods of these groups are made without them; a nut-free almond is not.
_MADE_WITHOUT: Final = frozenset({"gluten", "dairy", "egg"})
_ANIMALS: Final = frozenset({"meat", "fish", "shellfish", "dairy", "egg", "honey", "pork"})


@dataclass(frozen=True, slots=True)
class Group:
    """Foods that are left out together."""

    name: str
    called: frozenset[Words]
    words: frozenset[Words]
    harmless: frozenset[Words]
    # Words that in a sentence mostly mean something else: to roll, to wrap.
    otherwise: frozenset[Words] = frozenset()

    def find(self, text: Words, *, is_sentence: bool = False) -> Words | None:
        """Return the first name of the group in a text, if there is one that is not harmless."""
        covered = _covered(text, self.harmless) | self._excused(text)
        for start, found in _names_in(text, self.words):
            if is_sentence and found in self.otherwise:
                continue
            if not all(at in covered for at in range(start, start + len(found))):
                return found
        for at, word in enumerate(text):
            if at not in covered and self._has_grown(word):
                return (word,)
        return None

    def _excused(self, text: Words) -> set[int]:
        """Return the places of foods that are said to be without the group."""
        excused: set[int] = set()
        own = food_words(self.name)
        for start in range(len(text) - len(own)):
            after = start + len(own)
            if text[start:after] == own and text[after] == _FREE:
                excused |= set(range(start, after + 1))
                if self.name in _MADE_WITHOUT:
                    excused |= self._next_name(text, after + 1)
        if self.name in _ANIMALS:
            excused |= plant_versions_in(text)
        return excused

    def _next_name(self, text: Words, start: int) -> set[int]:
        for at, found in _names_in(text[: start + _FREE_REACH], self.words):
            if at >= start:
                return set(range(at, at + len(found)))
        return set()

    def _has_grown(self, word: str) -> bool:
        if (word,) in self.harmless:
            return False
        return any(
            len(name[0]) >= _LEAST_GROWN
            and len(word) > len(name[0])
            and (word.startswith(name[0]) or word.endswith(name[0]))
            for name in self.words
            if len(name) == 1
        )


def food_words(text: str) -> Words:
    """Return the words of a text as groups are written: singular, without accents."""
    plain = composed(text.casefold(), "NFKD")
    bare = "".join(sign for sign in plain if not unicodedata.combining(sign))
    # Word by word: words come again, whole texts hardly ever.
    return tuple(one for word in _WORD.findall(bare) for one in singular_words(word))


@cache
def food_groups() -> Mapping[str, Group]:
    """Return every group by its name."""
    groups: dict[str, Group] = {}
    for name, entry in read_lexicon("groups.yaml").items():
        groups[name] = Group(
            name=name,
            called=_set([name, *entry["called"]]),
            words=_set(entry["words"]),
            harmless=_set(entry["harmless"]),
            otherwise=_set(entry.get("otherwise", [])),
        )
    return groups


@cache
def group_called(words: Words) -> Group | None:
    """Return the group people mean by a name, if there is one."""
    for group in food_groups().values():
        if words in group.called:
            return group
    return None


def also_meant(name: str) -> tuple[str, ...]:
    """Return the groups a bare name takes in besides its own; a more exact name takes in none."""
    words = food_words(name)
    for entry in read_lexicon("groups.yaml").values():
        also: dict[str, list[str]] = entry.get("also", {})
        for said, groups in also.items():
            if food_words(said) == words:
                return tuple(groups)
    return ()


def read_lexicon(name: str) -> dict[str, dict[str, Any]]:
    """Return one of the lists that lie beside this module."""
    return bundled_yaml("callboard.packs.alfred.kitchen.food", name)


@cache
def plant_version_words() -> tuple[frozenset[Words], frozenset[Words]]:
    """Return the words that make a food a version without animals, and the foods."""
    entry = read_lexicon("diets.yaml")["plant_versions"]
    return _set(entry["called"]), _set(entry["of"])


def plant_versions_in(text: Words) -> set[int]:
    """Return the places of foods that are versions without animals: `vegan butter`."""
    called, foods = plant_version_words()
    places: set[int] = set()
    for start, word in _names_in(text, called):
        after = start + len(word)
        sizes = [size for size in (2, 1) if text[after : after + size] in foods]
        if sizes:
            places |= set(range(after, after + sizes[0]))
    return places


def holds(text: Words, name: Words) -> bool:
    """Say whether a name stands in a text."""
    size = len(name)
    return any(text[at : at + size] == name for at in range(len(text) - size + 1))


def _names_in(text: Words, names: frozenset[Words]) -> list[tuple[int, Words]]:
    found: list[tuple[int, Words]] = []
    for start in range(len(text)):
        for size in range(min(_LONGEST_NAME, len(text) - start), 0, -1):
            if text[start : start + size] in names:
                found.append((start, text[start : start + size]))
    return found


def _covered(text: Words, harmless: frozenset[Words]) -> set[int]:
    return {
        at for start, name in _names_in(text, harmless) for at in range(start, start + len(name))
    }


def _set(names: list[str]) -> frozenset[Words]:
    return frozenset(food_words(name) for name in names)


# Groups that only diets know.
NO_ALLERGENS: Final = frozenset({"meat", "pork", "alcohol", "honey", "sugar"})


@lru_cache(maxsize=20_000)
def groups_in(name: str) -> frozenset[str]:
    """Return every group a name belongs to, also those that only diets know."""
    words = food_words(name)
    return frozenset(group.name for group in food_groups().values() if group.find(words))


def allergens_in(name: str) -> frozenset[str]:
    """Return the allergens a name gives away."""
    return groups_in(name) - NO_ALLERGENS


_VERSIONS: Final = "plant_versions"


@dataclass(frozen=True, slots=True)
class Diet:
    """A way of eating, and the groups it leaves out."""

    name: str
    called: frozenset[Words]
    without: tuple[str, ...]


@cache
def diets() -> Mapping[str, Diet]:
    """Return every diet that can be checked, by its name."""
    return {
        name: Diet(
            name,
            frozenset(food_words(word) for word in [name.replace("_", " "), *entry["called"]]),
            tuple(entry["without"]),
        )
        for name, entry in read_lexicon("diets.yaml").items()
        if name != _VERSIONS
    }


@lru_cache(maxsize=1_000)
def diet_called(text: str) -> Diet | None:
    """Return the diet people mean by a name, if it is one that can be checked."""
    words = food_words(text.replace("_", " "))
    return next((diet for diet in diets().values() if words in diet.called), None)


def canonical_diets(given: Iterable[Any]) -> list[str]:
    """Return diets by their own names; one nobody knows stays as it was said."""
    names: list[str] = []
    for each in given:
        known = diet_called(str(each))
        names.append(known.name if known else "_".join(str(each).casefold().split()))
    return list(dict.fromkeys(name for name in names if name))


def canonical_allergies(given: Iterable[Any]) -> list[str]:
    """Return allergies by their groups' names; one nobody lists stays as it was said."""
    names: list[str] = []
    for each in given:
        text = str(each).strip().casefold()
        known = group_called(food_words(_bare(text)))
        names.append(known.name if known else text)
    return list(dict.fromkeys(name for name in names if name))


def _bare(text: str) -> str:
    for end in (" allergy", " intolerance", " allergies", "-free", " free"):
        text = text.removesuffix(end)
    return text
