"""Opens the Foreman of a project."""

from callboard.packs.writers_factory.foreman.foreman import Foreman
from callboard.packs.writers_factory.foreman.wiring.surveying import Survey
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.rooms import Rooms
from callboard.studio.studio import Studio


def open_foreman(ground: Ground, rooms: Rooms | None = None) -> Foreman:
    """Return the Foreman of a project; rooms that are open already are shared."""
    opened = rooms or Rooms.open(ground)
    modes = {mode.id: mode.file for mode in opened.modes.table.modes}
    return Foreman(ground, Survey(opened), opened, modes)


def foreman_of(studio: Studio) -> Foreman:
    """Return the Foreman of an open project."""
    return open_foreman(Ground(studio))
