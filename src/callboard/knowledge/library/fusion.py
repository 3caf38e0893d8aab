"""Reciprocal rank fusion: several orders become one, without comparing their scores."""

from collections.abc import Sequence
from typing import Final

_SMOOTHING: Final = 60


def fuse(orders: Sequence[Sequence[int]]) -> dict[int, float]:
    """Return a score for everything that stands in any order; high places count most."""
    scores: dict[int, float] = {}
    for order in orders:
        for place, each in enumerate(order, start=1):
            scores[each] = scores.get(each, 0.0) + 1 / (_SMOOTHING + place)
    return scores
