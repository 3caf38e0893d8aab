"""Units and sizes at the front of a text. What is none is left where it is."""

import re
from typing import Final

from callboard.packs.alfred.kitchen.recipes.lines.lexicon import (
    Unit,
    find_unit,
    read_number,
    unit_pattern,
    words,
)

OF: Final = re.compile(
    r"\s*(?:of|de la|de|du|des|di)\s+(?:the\s+|l['’])?|\s+d['’]\s*|\s*of$", re.IGNORECASE
)


_SIZED: Final = re.compile(r"\s*[- ]sized?\b", re.IGNORECASE)


# `packet-trimmed` is no packet.
_COMPOUND: Final = re.compile(r"-(?!sized)[^\W\d_]+ed\b", re.IGNORECASE)


def take_sizes(text: str) -> tuple[str | None, str]:
    """Take the words for how big or how full off the front of a text."""
    found: list[str] = []
    rest = text
    known = words("sizes") | words("measured") | words("shapes")
    while True:
        word = re.match(r"\s*(?:[-/]\s*)?([^\W\d_]+(?:-[^\W\d_]+)*)(?=[\s/,]|$)", rest)
        if word is None or word[1].casefold() not in known:
            break
        after = rest[word.end() :]
        is_last_word = word[1].casefold() in words("shapes")
        if (
            is_last_word
            and take_sizes(after)[0] is None
            and unit_pattern().match(after.strip()) is None
        ):
            break
        found.append(word[1])
        rest = after
        sized = _SIZED.match(rest)
        if sized is not None:
            rest = rest[sized.end() :]
    return (" ".join(found).casefold() or None), rest if found else text


def take_unit(text: str) -> tuple[Unit | None, str]:
    """Take a unit off the front of a text."""
    start = len(text) - len(text.lstrip())
    dashed = re.match(r"\s*-\s*", text)
    if dashed is not None:
        start = dashed.end()
    found = unit_pattern().match(text, start)
    if found is None:
        return None, text
    unit = find_unit(found[0])
    if unit is None or _COMPOUND.match(text, found.end()) is not None:
        return None, text
    return unit, text[found.end() :]


def without_of(text: str) -> str:
    """Return a text without the word that joins a unit to its thing."""
    found = OF.match(text)
    return (text[found.end() :] if found is not None else text).strip()


_SMALLER: Final = {"lb": "oz", "kg": "g", "l": "ml", "pint": "fl oz"}


def take_smaller(unit: Unit, rest: str) -> str | None:
    """Return what is behind the ounces of `1 lb 2 oz`, or None if there are none."""
    number = read_number(rest.lstrip()) if unit.name in _SMALLER else None
    if number is None:
        return None
    part, left = take_unit(rest.lstrip()[number.length :])
    return left if part is not None and part.name == _SMALLER[unit.name] else None
