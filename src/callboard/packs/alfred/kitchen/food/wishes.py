"""Wishes for food that contradict themselves, or what somebody must not eat."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from callboard.packs.alfred.kitchen.food.checking import Eater
from callboard.packs.alfred.kitchen.food.diets import Diet, diet_called, diets
from callboard.packs.alfred.kitchen.food.groups import (
    food_groups,
    group_called,
    holds,
    names_in,
    plant_version_words,
    vegan_words,
)
from callboard.packs.alfred.kitchen.food.lexicon import food_words
from callboard.packs.alfred.kitchen.food.spelling import Words

Row = Mapping[str, Any]
_BLANK: Final = "…"
_FREE: Final = "free"


@dataclass(frozen=True, slots=True)
class WishClash:
    """Two things that do not go together: `vegan` and `chicken`."""

    limit: str
    food: str
    # Whether the limit is the person's own and not part of the wish.
    is_from_profile: bool

    @property
    def question(self) -> str:
        """What to ask the user."""
        whose = "your profile says" if self.is_from_profile else "you asked for"
        limit = self.limit.replace("_", " ")
        return f"{self.food.capitalize()} does not fit: {whose} {limit}. Which should count?"


def find_clash(wish: str, profile: Row | None = None) -> WishClash | None:
    """Return what in a wish for food contradicts itself or the profile, if anything."""
    said = food_words(wish)
    rest = _without_plant_versions(said)
    for diet in diets().values():
        named = next((name for name in diet.called if holds(said, name)), None)
        if named is None:
            continue
        food = _food_against(diet, _blanked(rest, named))
        if food:
            return WishClash(diet.name, food, is_from_profile=False)
    return _profile_clash(rest, Eater.of(profile))


def _profile_clash(said: Words, eater: Eater) -> WishClash | None:
    for allergy in eater.allergies:
        group = group_called(food_words(allergy))
        found: Any = group.find(said, among=group.itself) if group else None
        if found is None and group is None and holds(said, food_words(allergy)):
            found = food_words(allergy)
        if found:
            return WishClash(f"{allergy} allergy", " ".join(found), is_from_profile=True)
    for name in eater.diet:
        diet = diet_called(name)
        food = _food_against(diet, said) if diet else None
        if food:
            return WishClash(name, food, is_from_profile=True)
    return None


def _food_against(diet: Diet, said: Words) -> str | None:
    for group in diet.without:
        known = food_groups()[group]
        found = known.find(said, among=known.itself)
        if found:
            return " ".join(found)
    return None


def _without_plant_versions(said: Words) -> Words:
    """Blank the foods; the word that makes them so stays: the rest must fit it too."""
    places = _plant_versions_in(said)
    return tuple(_BLANK if at in places else word for at, word in enumerate(said))


def _blanked(said: Words, part: Words) -> Words:
    """Blank the name of the limit itself, unless a food follows that is free of it."""
    size = len(part)
    for at in range(len(said) - size + 1):
        if said[at : at + size] == part and _FREE not in part:
            return said[:at] + (_BLANK,) * size + said[at + size :]
    return said


def _plant_versions_in(text: Words) -> set[int]:
    """Return the places of foods that are versions without animals: `vegan butter`."""
    called, foods = plant_version_words()
    places: set[int] = set()
    for start, word in names_in(text, called | vegan_words()):
        after = start + len(word)
        sizes = [size for size in (2, 1) if text[after : after + size] in foods]
        if sizes:
            places |= set(range(after, after + sizes[0]))
    return places
