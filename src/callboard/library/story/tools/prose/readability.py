"""Readability: Flesch's two formulas over counted syllables. Knows nothing of style."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

_VOWELS: Final = re.compile(r"[aeiouy]+")
_SILENT_ENDING: Final = re.compile(r"(?:[^aeiouylscxzgh]es|[^aeiouydt]ed|[^aeiouyl]e)$")


def readability(words: Sequence[str], sentence_count: int) -> dict[str, float]:
    """Return reading ease (higher is easier) and school grade."""
    if not words or not sentence_count:
        return {"flesch_reading_ease": 0.0, "flesch_kincaid_grade": 0.0}
    words_per_sentence = len(words) / sentence_count
    syllables_per_word = sum(syllables(word) for word in words) / len(words)
    ease = 206.835 - 1.015 * words_per_sentence - 84.6 * syllables_per_word
    grade = 0.39 * words_per_sentence + 11.8 * syllables_per_word - 15.59
    return {"flesch_reading_ease": round(ease, 1), "flesch_kincaid_grade": round(grade, 1)}


@cache
def syllables(word: str) -> int:
    """Estimate the syllables of a lower-cased English word."""
    groups = len(_VOWELS.findall(word))
    if groups > 1 and _SILENT_ENDING.search(word):
        groups -= 1
    return max(1, groups)
