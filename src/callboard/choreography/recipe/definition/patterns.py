"""Task patterns: words, or a simple regular expression, looked for in what a user asks for.

Both are compared in lower case and without articles and fillers. Recipes come with projects of
others: their expressions run on the linear engine.
"""

import re
from typing import Final

from callboard.core import patterns
from callboard.core.canonical import composed

_MAX_CHARS: Final = 200
_FILLERS: Final = frozenset(
    ("a", "an", "the", "my", "our", "your", "new", "next", "please", "this", "that", "some")
)
_META: Final = re.compile(r"[\\.^$*+?{}\[\]|()]")
# A request is a sentence or two; what follows is not looked at for a recipe's words.
_MOST_TEXT: Final = 4_000
_DASHES: Final = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))  # noqa: RUF001 - dashes people type


def plain_words(text: str) -> str:
    """Return a request as patterns see it: lower case, one space, no fillers."""
    folded = composed(text[:_MOST_TEXT]).translate(_DASHES).casefold()
    return " ".join(word for word in folded.split() if word not in _FILLERS)


def pattern_problem(pattern: str) -> str | None:
    """Say why a pattern cannot be used as a regular expression, or None."""
    if len(pattern) > _MAX_CHARS:
        return f"is longer than {_MAX_CHARS} characters"
    if _META.search(pattern) is None:
        return None
    return patterns.pattern_problem(pattern)


def matched_chars(pattern: str, words: str) -> int:
    """Return how many characters of a request, as `plain_words` gives it, a pattern covers."""
    literal = plain_words(pattern)
    if literal and literal in words:
        return len(literal)
    if _META.search(pattern) is None or pattern_problem(pattern) is not None:
        return 0
    found = patterns.compile_pattern(pattern, ignores_case=True).search(words)
    return 0 if found is None else found[1] - found[0]
