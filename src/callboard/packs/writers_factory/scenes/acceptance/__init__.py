"""Acceptance: a chosen text becomes part of the book and of the graph."""

from callboard.packs.writers_factory.scenes.acceptance.graph import (
    Addition,
    Ties,
    addition_of,
    ties_of,
)
from callboard.packs.writers_factory.scenes.acceptance.run import (
    Accepted,
    Judge,
    Judged,
    accept_scene,
)

__all__ = [
    "Accepted",
    "Addition",
    "Judge",
    "Judged",
    "Ties",
    "accept_scene",
    "addition_of",
    "ties_of",
]
