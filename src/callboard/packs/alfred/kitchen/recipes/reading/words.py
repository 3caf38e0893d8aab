"""The words that head the parts of a recipe, from the file beside this module."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from callboard.core.bundled import bundled_yaml
from callboard.packs.alfred.kitchen.recipes.text import without_emoji, without_markup

# No heading of a part is longer.
_LONGEST: Final = 200


def part_named(title: str) -> str | None:
    """Return which part of a recipe a heading opens, or None if it names none."""
    if len(title) > _LONGEST:
        return None
    plain = re.sub(r"\([^()]*\)", "", without_emoji(without_markup(title))).strip(" :.-").casefold()
    for part, names in _parts().items():
        if plain in names:
            return part
    # `Prep Directions`, `Ingredients for the dough`; but a whole sentence opens nothing.
    found = plain.split()
    if not 0 < len(found) <= 5:
        return None
    for part in ("ingredients", "steps", "notes"):
        names = _parts()[part]
        if found[0] in names or (found[-1] in names and part == "steps" and found[-1] != "cooking"):
            return part
    return None


def is_bare_heading(line: str) -> bool:
    """Say whether a line is a heading though it is not marked as one."""
    if len(line) > _LONGEST:
        return False
    plain = without_emoji(without_markup(line)).strip()
    is_bold = re.fullmatch(r"\s*(\*\*|__)[^*_]+\1:?\s*", line) is not None
    is_named = plain.rstrip(" :").casefold() in {
        name for names in _parts().values() for name in names
    }
    return is_named and (is_bold or plain.endswith(":"))


def is_part_alone(line: str) -> bool:
    """Say whether a line of plain text is the name of a part and nothing else."""
    if len(line) > _LONGEST:
        return False
    plain = without_emoji(line).strip(" :*#=-").casefold()
    return any(plain in _parts()[part] for part in ("ingredients", "steps", "notes"))


def fact_named(key: str) -> str | None:
    """Return which fact a key stands for, or None."""
    plain = without_emoji(key).strip(" :*_").casefold()
    return next((fact for fact, names in _facts().items() if plain in names), None)


@cache
def _parts() -> Mapping[str, frozenset[str]]:
    book = _book()
    return {
        part: frozenset(str(name).casefold() for name in book[part])
        for part in ("ingredients", "steps", "notes", "description")
    }


@cache
def _facts() -> Mapping[str, frozenset[str]]:
    listed: Mapping[str, list[str]] = _book()["facts"]
    return {
        fact: frozenset(str(name).casefold() for name in names) for fact, names in listed.items()
    }


def _book() -> Mapping[str, Any]:
    return bundled_yaml("callboard.packs.alfred.kitchen.recipes.reading", "headings.yaml")
