"""Diets: ways of eating and what each leaves out; one spelling for what people say of limits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final

from callboard.packs.alfred.kitchen.food.groups import group_called
from callboard.packs.alfred.kitchen.food.lexicon import food_words, read_lexicon
from callboard.packs.alfred.kitchen.food.spelling import Words

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
