"""Allergens in the name of a food."""

from functools import lru_cache
from typing import Final

from callboard.packs.alfred.kitchen.safety.words import food_groups, food_words

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
