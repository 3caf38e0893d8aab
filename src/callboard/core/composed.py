"""Composed text: Unicode normal forms in a time that grows with the text only.

Python sorts the marks that stand on one letter by moving each past all others: sixty thousand of
them take half a minute. No script needs more than a few, and Unicode's own stream-safe form allows
thirty; here what comes after them is dropped first.
"""

import re
import unicodedata
from typing import Final, Literal

MOST_MARKS: Final = 30
# Marks are neither letters nor blanks; runs of signs are found as well, and left as they are.
_RUN: Final = re.compile(rf"[^\w\s\x00-\x7f]{{{MOST_MARKS + 1},}}+")


def composed(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"] = "NFKC") -> str:
    """Return a text in a Unicode normal form."""
    if text.isascii():
        return text
    return unicodedata.normalize(form, _RUN.sub(_few_marks, text))


def _few_marks(run: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for char in run[0]:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks <= MOST_MARKS:
            kept.append(char)
    return "".join(kept)
