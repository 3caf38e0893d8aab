"""Groups of food that are left out together, and the names that give them away."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Final

from callboard.packs.alfred.kitchen.food.lexicon import (
    common_words,
    entries,
    food_words,
    known_words,
    lone_words,
    read_lexicon,
)
from callboard.packs.alfred.kitchen.food.spelling import Words, near, without_umlauts

# From how many letters on a name is found grown together with others; shorter ones are listed one
# by one: `nut` is in too many words. German grows everything together.
_LEAST_GROWN: Final = {"en": 6, "de": 5}
_GROWN: Final = 7
_LONGEST_NAME: Final = 6
# How far `gluten-free` reaches in a sentence; in an ingredient's line it reaches all of it.
_FREE_REACH: Final = 5
# Behind these begins another food: gluten-free oats and wheat bread.
_JOINTS: Final = frozenset({"and", "with", "plus", "und", "mit", "et", "avec", "con", "or"})
_FREE: Final = frozenset({"free", "frei", "freie", "freier", "freies", "less"})
_WITHOUT: Final = frozenset({"without", "no", "ohne", "sans", "sin", "senza", "kein", "keine"})
_FROM: Final = frozenset({"of", "from", "any"})
# What only looks like a food: a monkfish-shaped mould.
_LOOKS: Final = frozenset({"shaped", "sized", "coloured", "colored"})
_NOT: Final = frozenset({"not", "don", "never"})
_TAKEN: Final = frozenset({"use", "add", "contain", "include", "need"})
# Foods of these groups are made without them; a nut-free almond is not.
_MADE_WITHOUT: Final = frozenset({"gluten", "dairy", "egg", "lactose"})
_ANIMALS: Final = frozenset({"meat", "fish", "shellfish", "crustaceans", "molluscs", "pork"})
_FROM_ANIMALS: Final = frozenset({"dairy", "egg", "honey", "lactose"})


@dataclass(frozen=True, slots=True)
class Group:
    """Foods that are left out together."""

    name: str
    called: frozenset[Words]
    # The food itself, and besides what mostly holds it.
    itself: frozenset[Words]
    made_with: frozenset[Words] = frozenset()
    # What is usually made with it: nobody knows as long as the ingredients are not listed.
    dishes: frozenset[Words] = frozenset()
    harmless: frozenset[Words] = frozenset()
    # Words that in a sentence mostly mean something else: to roll, to wrap.
    otherwise: frozenset[Words] = frozenset()
    # Single names that are found within a longer word.
    grown: frozenset[str] = frozenset()
    # Tags that mean it as well.
    tags: frozenset[str] = field(default_factory=frozenset[str])
    free_of: frozenset[Words] = frozenset()

    @property
    def words(self) -> frozenset[Words]:
        """Every name that gives the group away."""
        return self.itself | self.made_with | self.dishes

    def find(
        self, text: Words, *, is_sentence: bool = False, among: frozenset[Words] | None = None
    ) -> Words | None:
        """Return the first name of the group in a text, if there is one that is not harmless."""
        covered = self._covered(text, is_sentence=is_sentence)
        for start, found in names_in(text, self.words if among is None else among):
            if is_sentence and found in self.otherwise:
                continue
            if not all(at in covered for at in range(start, start + len(found))):
                return found
        for at, word in enumerate(text):
            if at not in covered and _has_grown(self.name, word):
                return (word,)
        return None

    def find_near(self, text: Words, *, is_name: bool = False) -> tuple[str, str] | None:
        """Return a word that reads like a name of the group with a slip, and that name."""
        lone = lone_words(text) if is_name else frozenset[str]()
        covered = self._covered(text, is_sentence=False)
        if self.name in _MADE_WITHOUT and any(self._said_free(text)):
            return None
        pairs = pairwise(text)
        spoken = [*((at, (word,)) for at, word in enumerate(text)), *enumerate(pairs)]
        for at, words in spoken:
            is_lone = lone.issuperset(words)
            meant = None if at in covered else _meant_by(self.name, words, is_lone=is_lone)
            if meant is not None:
                return " ".join(words), meant
        return None

    def is_replaced(self, text: Words) -> bool:
        """Say whether a line names a version without the group: vegan butter, oat milk."""
        return bool(names_in(text, self.words)) and self.find(text) is None

    def _covered(self, text: Words, *, is_sentence: bool) -> set[int]:
        """Return the places of words that are no such food: harmless, or said not to be there."""
        covered = _covered(text, self.harmless)
        for start, found in names_in(text, self.words):
            after = start + len(found)
            is_looks = after < len(text) and text[after] in _LOOKS
            if is_looks or _is_denied(text[max(0, start - 3) : start]):
                covered |= set(range(start, after))
        for places in self._said_free(text):
            covered |= places
            for at, name in names_in(text, self.words):
                gap = text[max(places) + 1 : at] or text[at + len(name) : min(places)]
                is_far = is_sentence and len(gap) > _FREE_REACH
                if (
                    not is_far
                    and not _JOINTS & set(gap)
                    and (self.name in _MADE_WITHOUT or name not in self.itself)
                ):
                    covered |= set(range(at, at + len(name)))
        if self.name in _ANIMALS or self.name in _FROM_ANIMALS:
            covered |= self._plant_versions(text, is_sentence=is_sentence)
        return covered

    def _said_free(self, text: Words) -> Iterator[set[int]]:
        """Yield where a text says that the group is not in it: nut-free, without gluten."""
        for start, name in names_in(text, self.free_of or self.called | self.itself):
            after = start + len(name)
            is_free = after < len(text) and text[after] in _FREE
            is_group = name in (self.free_of or self.called)
            if is_free or (is_group and _is_denied(text[max(0, start - 3) : start])):
                yield set(range(start, after + is_free))
        for at, word in enumerate(text):
            # Grown together: glutenfrei, milchfrei, unsulphured.
            if (
                word.endswith("frei") and food_words(word[:-4]) in (self.free_of or self.called)
            ) or (word.startswith("un") and (word[2:],) in self.itself):
                yield {at}

    def _plant_versions(self, text: Words, *, is_sentence: bool) -> set[int]:
        called, foods = plant_version_words()
        strict = vegan_words()
        words = strict if self.name in _FROM_ANIMALS else called | strict
        places: set[int] = set()
        marks = [(at, at + len(mark)) for at, mark in names_in(text, words)]
        # Whatever a vegan thing is usually made with, it is made without.
        is_vegan = not is_sentence and any(word.startswith("vegan") for word in text)
        for at, name in names_in(text, self.words | foods):
            ends = at + len(name)
            is_beside = any(0 <= at - after <= 1 or start == ends for start, after in marks)
            if is_beside or (is_vegan and name not in self.itself):
                places |= set(range(at, ends))
        return places


def _is_denied(before: Words) -> bool:
    """Say whether the words before a name say that it is not there: without, do not use any."""
    if not before:
        return False
    last = before[-1]
    if last in _WITHOUT:
        return True
    if last in _FROM and len(before) > 1 and before[-2] in (_FREE | _WITHOUT):
        return True
    return last in _TAKEN and any(word in _NOT or word == "t" for word in before[:-1])


@lru_cache(maxsize=50_000)
def _has_grown(group: str, word: str) -> bool:
    found = food_groups()[group]
    if (word,) in found.harmless:
        return False
    forms = {word, without_umlauts(word)}
    return any(
        len(each) > len(name) and (each.startswith(name) or each.endswith(name))
        for each in forms
        for name in found.grown
        if len(each) >= _GROWN
    )


@lru_cache(maxsize=50_000)
def _meant_by(group: str, words: Words, *, is_lone: bool) -> str | None:
    known = common_words() if is_lone else known_words()
    if all(word in known for word in words) or not " ".join(words).isascii():
        return None
    found = food_groups()[group]
    listed = found.itself | found.made_with
    return near(" ".join(words), [" ".join(name) for name in listed if len(name) == len(words)])


@cache
def food_groups() -> Mapping[str, Group]:
    """Return every group by its name."""
    groups: dict[str, Group] = {}
    for name, entry in entries().items():
        parts = [groups[each] for each in entry.get("includes", ())]
        groups[name] = _group(name, entry, parts)
    return groups


def _group(name: str, entry: Mapping[str, Any], parts: list[Group]) -> Group:
    by_language: Mapping[str, list[str]] = entry.get("names") or {"en": entry.get("words", [])}
    itself = _set([each for names in by_language.values() for each in names])
    otherwise = _set(entry.get("otherwise", []))
    long = [
        words
        for language, least in _LEAST_GROWN.items()
        for words in _set(by_language.get(language, []))
        if len(words[0]) >= least
    ]
    grown = {words[0] for words in long if len(words) == 1 and words not in otherwise}
    includers = {"shellfish"} if name in ("crustaceans", "molluscs") else set[str]()
    return Group(
        name=name,
        called=_set([name, *entry.get("called", [])]),
        itself=itself.union(*(part.itself for part in parts)),
        made_with=_set(entry.get("made_with", [])).union(*(part.made_with for part in parts)),
        dishes=_set(entry.get("dishes", [])).union(*(part.dishes for part in parts)),
        harmless=_set(entry.get("harmless", [])).union(*(part.harmless for part in parts)),
        otherwise=otherwise.union(*(part.otherwise for part in parts)),
        grown=frozenset([*grown, *entry.get("grown", [])]).union(*(part.grown for part in parts)),
        tags=frozenset({name, *(part.name for part in parts), *includers}),
        free_of=_set(entry.get("free_of", [])),
    )


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
    for entry in entries().values():
        also: dict[str, list[str]] = entry.get("also", {})
        for said, groups in also.items():
            if food_words(said) == words:
                return tuple(groups)
    return ()


@cache
def plant_version_words() -> tuple[frozenset[Words], frozenset[Words]]:
    """Return the words that make a food a version without animals, and the foods."""
    entry = read_lexicon("diets.yaml")["plant_versions"]
    return _set(entry["called"]), _set(entry["of"])


@cache
def vegan_words() -> frozenset[Words]:
    """Return the words that say that nothing of an animal is in a food, no milk and no egg."""
    return _set(read_lexicon("diets.yaml")["plant_versions"]["vegan"])


def holds(text: Words, name: Words) -> bool:
    """Say whether a name stands in a text."""
    size = len(name)
    return any(text[at : at + size] == name for at in range(len(text) - size + 1))


def names_in(text: Words, names: frozenset[Words]) -> list[tuple[int, Words]]:
    """Return where names stand in a text, the longest at each place first."""
    found: list[tuple[int, Words]] = []
    for start in range(len(text)):
        for size in range(min(_LONGEST_NAME, len(text) - start), 0, -1):
            if text[start : start + size] in names:
                found.append((start, text[start : start + size]))
    return found


def _covered(text: Words, harmless: frozenset[Words]) -> set[int]:
    return {
        at for start, name in names_in(text, harmless) for at in range(start, start + len(name))
    }


def _set(names: Iterable[str]) -> frozenset[Words]:
    return frozenset(words for name in names if (words := food_words(str(name))))


# Groups that only diets know, and those that only hold others.
NO_ALLERGENS: Final = frozenset({"meat", "pork", "alcohol", "honey", "sugar"})
_UNIONS: Final = frozenset({"shellfish", "lactose"})


@lru_cache(maxsize=20_000)
def groups_in(name: str) -> frozenset[str]:
    """Return every group a name belongs to, also those that only diets know."""
    words = food_words(name)
    return frozenset(group.name for group in food_groups().values() if group.find(words))


def allergens_in(name: str) -> frozenset[str]:
    """Return the allergens a name gives away."""
    return groups_in(name) - NO_ALLERGENS - _UNIONS
