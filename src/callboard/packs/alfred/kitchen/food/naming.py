"""Naming: whether a text can be the name of a thing, or is a sentence about one.

Asked where a name is stored and where a list is read. It refuses sentences; what nobody has heard
of is a name all the same.
"""

import re
from typing import Final

from callboard.core.bundled import bundled_yaml

_MOST_WORDS: Final = 9


def _words() -> dict[str, list[str]]:
    return bundled_yaml("callboard.packs.alfred.kitchen.hearing", "lexicon.yaml")["names"]


_QUOTED: Final = re.compile(r'^(?:"([^"]+)"|“([^”]+)”|\'([^\']+)\')$')
_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
# Who does something, what is done, and what ties sentences together: no name has these.
_SAYING: Final = frozenset(_words()["saying"])
_FIRST: Final = frozenset(_words()["first"])
_POINTING: Final = frozenset(_words()["pointing"])


def unquoted(name: str) -> tuple[str, bool]:
    """Return a name without quotation marks, and whether it had some: then it is a name."""
    found = _QUOTED.match(name.strip())
    if found is None:
        return name.strip(), False
    return next(part for part in found.groups() if part is not None).strip(), True


def objection(name: str) -> str:
    """Return why a text is no name of a thing; nothing if it may be one."""
    words = [found[0].casefold().replace("’", "'") for found in _WORD.finditer(name)]
    if not words:
        return "" if name.strip() else "it is empty"
    if len(words) > _MOST_WORDS:
        return f"it has {len(words)} words"
    told = next((word for word in words if word in _SAYING), None)
    if told is not None:
        return f"“{told}” belongs to a sentence"
    if words[0] in _FIRST and len(words) > 1:
        return f"no name begins with “{words[0]}”"
    if all(word in _POINTING for word in words):
        return "it only points at something"
    if all(word.isdigit() or word in _BARE_UNITS for word in words):
        return "it is only a measure"
    return ""


_BARE_UNITS: Final = frozenset(
    ["kg", "g", "ml", "l", "cl", "lb", "oz", "gram", "grams", "kilo", "kilos", "litre", "litres"]
)
