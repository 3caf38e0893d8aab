"""Opens the Foreman of a project."""

from callboard.packs.writers_factory.foreman.foreman import Foreman
from callboard.packs.writers_factory.foreman.wiring.surveying import Survey
from callboard.packs.writers_factory.rooms import Rooms
from callboard.packs.writers_factory.workspace import Workspace
from callboard.studio.studio import Studio


def open_foreman(workspace: Workspace, rooms: Rooms | None = None) -> Foreman:
    """Return the Foreman of a project; rooms that are open already are shared."""
    opened = rooms or Rooms.open(workspace)
    modes = {mode.id: mode.file for mode in opened.modes.table.modes}
    return Foreman(workspace, Survey(opened), opened, modes)


def foreman_of(studio: Studio) -> Foreman:
    """Return the Foreman of an open project."""
    return open_foreman(Workspace(studio))
