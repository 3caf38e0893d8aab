"""Briefing: the choreography that makes a scaffold."""

from callboard.packs.writers_factory.scenes.briefing.run import Request, brief_scene

__all__ = ["Request", "brief_scene"]
