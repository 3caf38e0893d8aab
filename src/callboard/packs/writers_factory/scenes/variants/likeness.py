"""Likeness: how much of two drafts is the same, by the runs of five words they share."""

from collections.abc import Mapping
from itertools import combinations
from typing import Final

from callboard.library.story.text import words_of

_RUN_WORDS: Final = 5


def shared_runs(one: str, other: str) -> float:
    """Return which part of the shorter draft's five-word runs the other has too, from 0 to 1."""
    first, second = _runs(one), _runs(other)
    if not first or not second:
        return 0.0
    return len(first & second) / min(len(first), len(second))


def too_alike(texts: Mapping[str, str], most: float) -> tuple[tuple[str, str, float], ...]:
    """Return the pairs that share more than they may: the earlier, the later, and how much."""
    found = (
        (one, other, shared_runs(texts[one], texts[other])) for one, other in combinations(texts, 2)
    )
    return tuple((one, other, share) for one, other, share in found if share > most)


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = words_of(text)
    return frozenset(words[at : at + _RUN_WORDS] for at in range(len(words) - _RUN_WORDS + 1))
