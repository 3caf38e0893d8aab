"""Acceptance: a chosen text becomes part of the book and of the graph."""

from callboard.packs.writers_factory.scenes.acceptance.run import SceneVerdict, accept_scene

__all__ = ["SceneVerdict", "accept_scene"]
