"""What `pack.yaml` names: the conversation about a household's kitchen."""

from callboard.choreography.turn.turn import Turn
from callboard.core.canonical import Json
from callboard.engine.run import Run
from callboard.knowledge.entities import Lifetimes
from callboard.packs.alfred.ground import kitchen_of
from callboard.packs.alfred.settings import read_settings
from callboard.studio.studio import Studio

__all__ = ["turn"]


class KitchenTurn(Turn):
    """A conversation whose things live as long as the project's settings say."""

    async def perform(self, studio: Studio, run: Run) -> Json:
        """Handle a message, and the answers to what is asked about it."""
        entities = read_settings(studio.project.folder).values.entities
        lifetimes = Lifetimes(entities.ttl_turns, entities.gc_turns)
        return await Turn(kitchen_of, lifetimes).perform(studio, run)


turn = KitchenTurn(kitchen_of)
