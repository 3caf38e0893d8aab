"""What makes a line doubtful though it was read: shapes the rules do not explain.

Looks at the finished line and its words, and changes nothing of it.
"""

import re
import unicodedata
from typing import Final

from callboard.packs.alfred.kitchen.recipes.lines.lexicon import (
    find_unit,
    phrases,
    unit_pattern,
    words,
)
from callboard.packs.alfred.kitchen.recipes.lines.numbers import read_number
from callboard.packs.alfred.kitchen.recipes.lines.preparations import is_nameless
from callboard.packs.alfred.kitchen.recipes.lines.values import Flag, IngredientLine

_WORDS_OF_A_NAME: Final = 7
_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")
# Another thing goes in with this one: `dissolved in 2 tbsp water`.
_JOINED: Final = re.compile(
    r"(?:\b(?:with|in|to|and|plus)|\+)\s+(?:about\s+|approx\.?\s+)?", re.IGNORECASE
)
_SHAPES: Final = frozenset(["cm", "inch", "piece", "slice", "strip", "cube", "serving"])
_MEASURES: Final = frozenset(["tsp", "tbsp", "cup", "pinch", "handful", "ml", "oz", "kg", "lb"])
_SAME_THING: Final = frozenset(
    ["for", "each", "total", "in", "per", "to", "at", "if", "when", "or"]
)
_NUMBERED: Final = re.compile(
    r"(?<![\w.,/#-])(?<!type )(?<!no\. )\d+(?:[.,/]\d+)?(?![\d%°+]|\s*[%°])"
)


def find_doubts(line: IngredientLine, text: str) -> tuple[Flag, ...]:
    """Return what is doubtful about a line that was read from a plain text."""
    said = [part for part in (line.note, line.preparation) if part]
    checks = (
        (Flag.NO_FOOD, _is_tool(line.name)),
        (Flag.SEVERAL, any(_brings_another(part) for part in (*said, line.name))),
        (Flag.UNREAD_PART, line.quantity is None and any(_NUMBERED.search(part) for part in said)),
        (Flag.UNREAD_PART, _is_cut_wrong(line.name) or _has_amount(line.name)),
        (Flag.UNREAD_PART, text.count("(") != text.count(")")),
        (Flag.UNIT_AS_NAME, line.unit is None and _holds_unit(line.name)),
        (Flag.UNREAD_PART, _holds_preparation(line.name) or _lacks_noun(line.name)),
        (Flag.UNKNOWN_UNIT, line.unit is None and _counts_measures(line)),
        (Flag.UNKNOWN_UNIT, line.quantity is None and _starts_with_measure(line.name)),
        (Flag.PROSE, line.quantity is None and _first(line.name) in words("orders")),
        (Flag.PROSE, len(_WORD.findall(line.name)) > _WORDS_OF_A_NAME),
    )
    return tuple(flag for flag, is_so in checks if is_so)


def _is_tool(name: str) -> bool:
    parts = name.casefold().split()
    return bool(parts) and (parts[-1] in words("tools") or " ".join(parts[-2:]) in words("tools"))


def _brings_another(part: str) -> bool:
    """Say whether a part measures out something else: an amount, a unit, and what it is of."""
    for joined in _JOINED.finditer(part):
        rest = part[joined.end() :]
        number = read_number(rest)
        if number is None:
            continue
        after = rest[number.length :].lstrip(" -")
        found = unit_pattern().match(after)
        unit = find_unit(found[0]) if found is not None else None
        if found is None or unit is None or unit.name in _SHAPES:
            continue
        what = _WORD.search(after, found.end())
        if what is not None and what[0].casefold() not in _SAME_THING:
            return True
    return False


def _is_cut_wrong(name: str) -> bool:
    # `ON` is a brand.
    parts = [part if part.isupper() else part.casefold() for part in name.split()]
    return len(parts) > 1 and (parts[0] in words("loose") or parts[-1] in words("loose"))


def _has_amount(name: str) -> bool:
    """Say whether an amount is left in a name."""
    for found in re.finditer(r"(?<![\w/])\d+(?:[.,/]\d+)?\s*-?", name):
        if unit_pattern().match(name, found.end()) is not None:
            return True
    return False


def _holds_unit(name: str) -> bool:
    """Say whether a unit stands before the last word of a name: `square pieces banana leaf`."""
    for word in name.split()[:-1]:
        unit = find_unit(word) if len(word) > 1 else None
        is_many = unit is not None and word.endswith("s") and unit.name != word.casefold()
        if is_many or (unit is not None and unit.name in _MEASURES):
            return True
    return False


def _lacks_noun(name: str) -> bool:
    """Say whether no word of a name is a thing; `half and half` is one."""
    return is_nameless(name) and name.casefold() not in phrases("together")


def _holds_preparation(name: str) -> bool:
    """Say whether what is done stands inside a name, where nobody can tell if it belongs to it."""
    parts = name.casefold().split()
    return any(
        part in words("prepared")
        and not any(" ".join(parts[at:]).startswith(known) for known in words("products"))
        for at, part in enumerate(parts[1:-1], 1)
    )


def _starts_with_measure(name: str) -> bool:
    """Say whether a name starts as `pot of water` does: with a measure nobody knows."""
    found = re.match(r"([^\W\d_]+) of \S", name)
    return found is not None and found[1].casefold() not in words("wholes")


def _counts_measures(line: IngredientLine) -> bool:
    """Say whether what is counted may be a measure nobody knows: `4 florets broccoli`."""
    first, _, behind = line.name.partition(" ")
    if line.quantity and behind and not unicodedata.name(first[0], "").startswith("LATIN"):
        # The units are known in Latin letters only.
        return first[0].isalpha()
    is_plural = re.fullmatch(r"[a-z]{3,}[^\Wsui]s", first) is not None
    return bool(line.quantity and behind) and is_plural and first not in words("owners")


def _first(text: str) -> str:
    found = _WORD.match(text)
    return found[0].casefold() if found is not None else ""
