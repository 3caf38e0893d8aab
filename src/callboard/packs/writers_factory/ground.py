"""The ground the rooms of the factory stand on: an open project, and what this pack keeps in it."""

from dataclasses import dataclass
from functools import cached_property

from callboard.packs.writers_factory.model import PACK
from callboard.packs.writers_factory.settings import FactorySettings, read_settings
from callboard.store.records import Records
from callboard.studio.studio import Studio
from callboard.tools import ProjectFiles


@dataclass(frozen=True)
class Ground:
    """An open project as Writers Factory sees it."""

    studio: Studio

    @cached_property
    def records(self) -> Records:
        """What the pack keeps in the project's database."""
        return Records(self.studio.database, PACK, self.studio.clock)

    @cached_property
    def files(self) -> ProjectFiles:
        """The writer's files."""
        return ProjectFiles(self.studio.project.root, self.studio.project.folder)

    @property
    def settings(self) -> FactorySettings:
        """The settings in force now."""
        return read_settings(self.studio.project.folder).values
