"""The name a message gives somebody, by rules. It judges no name."""

import re
from typing import Final

_NAME: Final = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w'’-]*(?:\s+[A-ZÀ-ÖØ-Þ][\w'’-]*){0,3}")
_ARTICLES: Final = frozenset(("a", "an", "the"))
# Words a sentence about somebody opens with; none of them is the name.
_OPENER: Final = re.compile(
    r"call|name|let|about|i|i['’]d|it|its|it['’]s|in|on|is|he|she|they|her|him|his|their|my|our"
    r"|this|that|who",
    re.IGNORECASE,
)
_MOST_BARE_WORDS: Final = 4
_FEWEST_BARE_WORDS: Final = 2


def name_in(message: str) -> str:
    """Return the name a message gives: a short one whole, of a sentence the first in it.

    A sentence that names nobody gives none.
    """
    words = message.strip().strip(".!\"“”'").split()
    names = (_name_of(hit[0]) for hit in _NAME.finditer(message))
    named = next((each for each in names if each), "")
    if len(words) <= 3 and (not named or named.startswith(words[0])):
        return " ".join(words)
    return named


def _name_of(capitals: str) -> str:
    """Return what of words in capitals is a name; an article is part of one, never one itself."""
    words = capitals.split()
    while words and _OPENER.fullmatch(words[0]):
        words = words[1:]
    return "" if len(words) == 1 and words[0].lower() in _ARTICLES else " ".join(words)


def is_bare_name(message: str) -> bool:
    """Say whether a message is nothing but a name, so that it answers a question nobody put."""
    words = message.strip().strip(".!").split()
    is_short = _FEWEST_BARE_WORDS <= len(words) <= _MOST_BARE_WORDS
    bare = _NAME.fullmatch(" ".join(words)) if is_short else None
    return bare is not None and _name_of(bare[0]) == bare[0]
