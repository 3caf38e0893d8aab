"""Trust by folder: whose projects may bring settings, agents, prompts and a database."""

from callboard.studio.trust.registry import Enrolled, Registry
from callboard.studio.trust.standing import Standing, StandingKind

__all__ = ["Enrolled", "Registry", "Standing", "StandingKind"]
