"""Everything a book is made in, opened together."""

from dataclasses import dataclass

from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.health.room import Health
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.packs.writers_factory.memory import Memory, Notebooks
from callboard.packs.writers_factory.milestones import milestones
from callboard.packs.writers_factory.modes import Modes
from callboard.packs.writers_factory.modes.gates import Neighbours
from callboard.packs.writers_factory.revision.revision import Revision
from callboard.packs.writers_factory.scenes.scenes import Scenes
from callboard.packs.writers_factory.voice import Voice
from callboard.packs.writers_factory.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Rooms:
    """What the Foreman knows of and the doors can touch."""

    bible: Bible
    modes: Modes
    memory: Memory
    notebooks: Notebooks
    voice: Voice
    manuscript: Manuscript
    scenes: Scenes
    revision: Revision
    health: Health

    @classmethod
    def open(cls, workspace: Workspace) -> "Rooms":
        """Open them on a project, each looking into its neighbours."""
        notebooks, memory = Notebooks(workspace), Memory(workspace)
        voice, manuscript = Voice(workspace), Manuscript(workspace)

        bible = Bible(workspace, notebooks.labels)
        around = Neighbours(
            voice=voice.status,
            outline=manuscript.outline,
            scenes=manuscript.scenes,
            remember=memory.save_decision,
            effects=milestones(workspace),
        )
        return cls(
            bible=bible,
            modes=Modes(workspace, bible, around),
            memory=memory,
            notebooks=notebooks,
            voice=voice,
            manuscript=manuscript,
            scenes=Scenes(workspace),
            revision=Revision(workspace),
            health=Health(workspace),
        )
