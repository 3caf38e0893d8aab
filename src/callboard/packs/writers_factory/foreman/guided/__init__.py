"""Turns that code leads, for models that cannot follow instructions."""

from callboard.packs.writers_factory.foreman.guided.turn import GuidedTurn

__all__ = ["GuidedTurn"]
