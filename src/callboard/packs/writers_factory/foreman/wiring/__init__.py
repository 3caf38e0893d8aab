"""The Foreman of a project, wired to the other rooms."""

from callboard.packs.writers_factory.foreman.wiring.opening import foreman_of, open_foreman
from callboard.packs.writers_factory.rooms import Rooms

__all__ = ["Rooms", "foreman_of", "open_foreman"]
