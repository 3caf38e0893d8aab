"""A query as full text understands it. Whatever the query says, it is words, never syntax."""

import re
from typing import Final

_WORD: Final = re.compile(r"\w+")
_MAX_WORDS: Final = 64


def match_expression(query: str) -> str | None:
    """Return an expression that finds any word of a query, or None if it has no words."""
    found = dict.fromkeys(word.casefold() for word in _WORD.findall(query.replace("_", " ")))
    if not found:
        return None
    return " OR ".join(f'"{word}"' for word in list(found)[:_MAX_WORDS])
