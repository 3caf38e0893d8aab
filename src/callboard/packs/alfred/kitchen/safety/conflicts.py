"""Conflicts: a wish that contradicts itself, or the person who has it."""

from dataclasses import dataclass
from typing import Any, Final

from callboard.packs.alfred.kitchen.safety.checking import Eater, Row
from callboard.packs.alfred.kitchen.safety.diets import Diet, diet_called, diets
from callboard.packs.alfred.kitchen.safety.words import (
    Words,
    food_groups,
    food_words,
    group_called,
    holds,
    plant_versions_in,
)

_BLANK: Final = "…"
_FREE: Final = "free"


@dataclass(frozen=True, slots=True)
class Clash:
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


def find_clash(wish: str, profile: Row | None = None) -> Clash | None:
    """Return what in a wish for food contradicts itself or the profile, if anything."""
    said = food_words(wish)
    rest = _without_plant_versions(said)
    for diet in diets().values():
        named = next((name for name in diet.called if holds(said, name)), None)
        if named is None:
            continue
        food = _food_against(diet, _blanked(rest, named))
        if food:
            return Clash(diet.name, food, is_from_profile=False)
    return _profile_clash(rest, Eater.of(profile))


def _profile_clash(said: Words, eater: Eater) -> Clash | None:
    for allergy in eater.allergies:
        group = group_called(food_words(allergy))
        found: Any = group.find(said) if group else None
        if found is None and group is None and holds(said, food_words(allergy)):
            found = food_words(allergy)
        if found:
            return Clash(f"{allergy} allergy", " ".join(found), is_from_profile=True)
    for name in eater.diet:
        diet = diet_called(name)
        food = _food_against(diet, said) if diet else None
        if food:
            return Clash(name, food, is_from_profile=True)
    return None


def _food_against(diet: Diet, said: Words) -> str | None:
    for group in diet.without:
        found = food_groups()[group].find(said)
        if found:
            return " ".join(found)
    return None


def _without_plant_versions(said: Words) -> Words:
    """Blank the foods; the word that makes them so stays: the rest must fit it too."""
    places = plant_versions_in(said)
    return tuple(_BLANK if at in places else word for at, word in enumerate(said))


def _blanked(said: Words, part: Words) -> Words:
    """Blank the name of the limit itself, unless a food follows that is free of it."""
    size = len(part)
    for at in range(len(said) - size + 1):
        if said[at : at + size] == part and _FREE not in part:
            return said[:at] + (_BLANK,) * size + said[at + size :]
    return said
