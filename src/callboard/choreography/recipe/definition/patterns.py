"""Task patterns: words, or a simple regular expression, looked for in what a user asks for.

Both are compared in lower case and without articles and fillers. Refuses expressions that could
take forever on a short text.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

_MAX_CHARS: Final = 200
_FILLERS: Final = frozenset(
    ("a", "an", "the", "my", "our", "your", "new", "next", "please", "this", "that", "some")
)
_META: Final = re.compile(r"[\\.^$*+?{}\[\]|()]")
# A repeated group that itself repeats something: its tries double with every character.
_NESTED: Final = re.compile(r"\([^()]*[*+}][^()]*\)\s*[*+{]")
_DASHES: Final = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))  # noqa: RUF001 - dashes people type


def plain_words(text: str) -> str:
    """Return a request as patterns see it: lower case, one space, no fillers."""
    folded = unicodedata.normalize("NFKC", text).translate(_DASHES).casefold()
    return " ".join(word for word in folded.split() if word not in _FILLERS)


def pattern_problem(pattern: str) -> str | None:
    """Say why a pattern cannot be used as a regular expression, or None."""
    if len(pattern) > _MAX_CHARS:
        return f"is longer than {_MAX_CHARS} characters"
    if _META.search(pattern) is None:
        return None
    if _NESTED.search(pattern):
        return f"{pattern!r} repeats a group that repeats something itself"
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"{pattern!r} is not a regular expression: {error}"
    return None


def matched_chars(pattern: str, words: str) -> int:
    """Return how many characters of a request, as `plain_words` gives it, a pattern covers."""
    literal = plain_words(pattern)
    if literal and literal in words:
        return len(literal)
    expression = _compiled(pattern)
    found = expression.search(words) if expression is not None else None
    return len(found[0]) if found is not None else 0


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    if _META.search(pattern) is None or pattern_problem(pattern) is not None:
        return None
    return re.compile(pattern, re.IGNORECASE)
