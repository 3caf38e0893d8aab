"""Food facts: what a new ingredient most likely is, told by its name alone.

A guess for the catalogue's columns of convenience. What is safe to eat is never decided here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from callboard.core.bundled import bundled_yaml
from callboard.knowledge.entities.matching import singular_words

OTHER: Final = "other"
HOUSEHOLD: Final = "household"
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoodFacts:
    """What a name tells about a food."""

    category: str = OTHER
    aisle: str | None = None
    place: str = "pantry"
    g_per_ml: float | None = None

    @property
    def is_food(self) -> bool:
        """Whether the lexicon knows it, and as something to eat."""
        return self.category not in (OTHER, HOUSEHOLD)


def category_words(category: str) -> str:
    """Return what a category is called: `dairy and eggs`."""
    return category.replace("_", " and ")


def food_facts(name: str) -> FoodFacts:
    """Return what a name tells; a name nobody knows is `other`."""
    words = singular_words(name)
    category = _found(words, _categories()) or OTHER
    book = _book()
    return FoodFacts(
        category=category,
        aisle=book["aisles"].get(category),
        place=book["places"].get(category, "pantry"),
        g_per_ml=_density(words),
    )


def aisle_of(category: str) -> str:
    """Return where a shop keeps a category."""
    aisles: Mapping[str, str] = _book()["aisles"]
    return aisles.get(category, aisles[OTHER])


def _density(words: Words) -> float | None:
    # Only the name itself, or with one word before it: `whole milk`, but no `milk chocolate bar`.
    known = _densities()
    return known.get(words) or (known.get(words[1:]) if len(words) == 2 else None)


def _found(words: Words, known: Mapping[Words, str]) -> str | None:
    for part in _parts(words):
        if part in known:
            return known[part]
    return None


def _parts(words: Words) -> Iterator[Words]:
    """Yield the parts of a name: the longest first, and of those the one that ends it."""
    for size in range(len(words), 0, -1):
        for start in range(len(words) - size, -1, -1):
            yield words[start : start + size]


@cache
def _categories() -> dict[Words, str]:
    listed: Mapping[str, list[str]] = _book()["categories"]
    return {singular_words(name): category for category, names in listed.items() for name in names}


@cache
def _densities() -> dict[Words, float]:
    listed: Mapping[str, float] = _book()["densities"]
    return {singular_words(name): density for name, density in listed.items()}


def _book() -> dict[str, Any]:
    return bundled_yaml("callboard.packs.alfred.kitchen.food", "foods.yaml")


def is_listed(name: str) -> bool:
    """Say whether the lexicon has a food by just this name."""
    return singular_words(name) in _categories()


@cache
def listed_words() -> frozenset[str]:
    """Return the foods whose name is one word."""
    return frozenset(words[0] for words in _categories() if len(words) == 1)
