"""Colours: what an eye or a head of hair is said to be, as families that may agree.

Refuses words that tell light or mood rather than colour.
"""

import re
from collections.abc import Mapping
from functools import cache

from callboard.library.story.lexicon.groups import families_in

_SEPARATORS = re.compile(r"[^a-z]+")


@cache
def colour_words(part: str) -> frozenset[str]:
    """Return the colour words known for `eye` or `hair`."""
    return frozenset(_families(part))


def families_of(part: str, text: str) -> frozenset[str]:
    """Return the families of every colour word in a text; empty when it names no colour.

    Of "dark red" only the red counts, and "steel-blue" is blue: the last word of a compound says
    what the words before it shade, unless both are colours of their own ("blue-green").
    """
    known = _families(part)
    words = _SEPARATORS.split(text.lower())
    named = [word for word in words if word in known]
    if len(named) > 1:
        named = [word for word in named if word not in _SHADES]
    return frozenset(family for word in named for family in known[word])


def colour_name(text: str) -> str:
    """Return a colour as it is compared in messages: one spelling, single blanks."""
    return " ".join(text.lower().replace("gray", "grey").split())


_SHADES = frozenset({"dark", "steel", "slate", "flint", "pewter", "jet", "fair", "olive"})


@cache
def _families(part: str) -> Mapping[str, frozenset[str]]:
    listed = families_in("facts", f"{part}_colours")
    words = {word for known in listed.values() for word in known}
    return {
        word: frozenset(name for name, known in listed.items() if word in known) for word in words
    }
