"""What `pack.yaml` names beside Alfred's doors: the conversation about a household's kitchen."""

from typing import Final

from callboard.choreography.turn.turn import Turn
from callboard.knowledge.entities import Lifetimes
from callboard.packs.alfred.project import kitchen_of
from callboard.packs.alfred.settings import read_settings
from callboard.studio.studio import Studio


def _lifetimes(studio: Studio) -> Lifetimes:
    """Return how long things stay in a conversation, as the project's settings say."""
    entities = read_settings(studio.project.folder).values.entities
    return Lifetimes(entities.ttl_turns, entities.gc_turns)


turn: Final = Turn(kitchen_of, _lifetimes)
"""The conversation about a household's kitchen."""
