"""Lexicon: the names of foods as the files beside it list them, and words as they are looked up."""

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, Final

from callboard.core.bundled import bundled_yaml
from callboard.packs.alfred.kitchen.food.spelling import (
    LEAST_NEAR,
    PARTED,
    Words,
    plain_words,
    plurals,
    without_umlauts,
)

# From how many letters on a name is declined; longer where nobody says of which language it is.
_LEAST_DECLINED: Final = 4
_LEAST_UNKNOWN: Final = 7


@lru_cache(maxsize=20_000)
def food_words(text: str) -> Words:
    """Return the words of a text as groups are written: undisguised, singular in any language."""
    forms = _forms()
    return tuple(forms.get(word) or _without_umlauts(word) for word in plain_words(text))


def _without_umlauts(word: str) -> str:
    plain = without_umlauts(word)
    if plain == word or word in _bases():
        return word
    return plain if plain in _bases() else _forms().get(plain, word)


@cache
def _bases() -> frozenset[str]:
    """Return every single word that stands in a name of a lexicon."""
    return frozenset(word for _, name in _listed_names() for word in plain_words(name))


@cache
def _single_names() -> frozenset[str]:
    """Return the names of one word: they mean themselves."""
    names = (plain_words(name) for _, name in _listed_names())
    return frozenset(name[0] for name in names if len(name) == 1)


@cache
def _forms() -> Mapping[str, str]:
    """Return the plurals of names in other languages, as they are looked up, by what they mean."""
    found: dict[str, str] = {}
    # What is a name by itself comes before a word that only stands in one.
    listed = sorted(_listed_names(), key=lambda each: len(plain_words(each[1])) > 1)
    for language, name in listed:
        spoken = [language] if language else ["de", "it"]
        least = _LEAST_DECLINED if language else _LEAST_UNKNOWN
        for word in plain_words(name):
            is_declined = language != "en" and len(word) >= least
            ends = [each for one in spoken for each in plurals(word, one) if is_declined]
            # Not every plural in English comes out as its singular by itself: hoagies.
            ends += [f"{word}s"] if len(word) >= _LEAST_DECLINED else []
            for several in ends:
                key = plain_words(several)[0]
                if key != word and key not in _single_names():
                    found.setdefault(key, word)
    return found


@cache
def _listed_names() -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for entry in entries().values():
        for language, names in entry.get("names", {}).items():
            found += [(language, str(name)) for name in names]
        for kind in ("words", "made_with", "dishes", "harmless", "called", "otherwise"):
            found += [("en" if kind == "words" else "", str(name)) for name in entry.get(kind, ())]
    return tuple(found)


@cache
def known_words() -> frozenset[str]:
    """Return words that are written as they should be, whatever they come near to."""
    near_by = read_lexicon("neighbours.yaml")["words"]
    return common_words() | {word for name in near_by for word in plain_words(str(name))}


@lru_cache(maxsize=20_000)
def lone_words(name: Words) -> frozenset[str]:
    """Return the words a thing's name ends in or that have no food beside them: Greek fate.

    Whoever writes them there means a food, however good a word it is elsewhere. What stands behind
    a comma only says how it is cut.
    """
    pieces: list[list[str]] = [[]]
    for word in name[: name.index(PARTED) if PARTED in name else None]:
        if word in ("and", "or", "with"):
            pieces.append([])
        elif word == "of":
            # A dash of something names what comes behind it.
            pieces[-1].clear()
        elif len(word) >= LEAST_NEAR - 1 and word not in _described():
            pieces[-1].append(word)
    lone = [each[-1:] if common_words() & set(each) else each for each in pieces]
    return frozenset(word for each in lone for word in each)


@cache
def _described() -> frozenset[str]:
    listed = read_lexicon("neighbours.yaml")["describing"]
    return frozenset(word for name in listed for word in plain_words(name))


@cache
def common_words() -> frozenset[str]:
    """Return the words of all names of food that the lexicons have."""
    foods = read_lexicon("foods.yaml")["categories"]
    listed = {w for names in foods.values() for name in names for w in plain_words(str(name))}
    return _bases() | _forms().keys() | listed | _described()


@cache
def entries() -> Mapping[str, dict[str, Any]]:
    """Return every group's entry by its name, the allergens first."""
    return {**read_lexicon("allergens.yaml"), **read_lexicon("groups.yaml")}


def read_lexicon(name: str) -> dict[str, Any]:
    """Return one of the lists that lie beside this module."""
    return bundled_yaml("callboard.packs.alfred.kitchen.food", name)
