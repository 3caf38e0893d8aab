"""What `pack.yaml` names: conference, chat, plans, recipes and tools."""

from typing import Final

from callboard.choreography.chat import Chat
from callboard.choreography.conference import AskAgain, ConferenceRounds, Supplies
from callboard.choreography.planning import plan_choreography
from callboard.choreography.recipe import RecipeHouse, RecipeShelf
from callboard.library.story.tools.canon.tool import canon_checker
from callboard.library.story.tools.consistency.tool import consistency_checker
from callboard.library.story.tools.draft.tool import scene_draft_validator
from callboard.library.story.tools.file_locator import file_locator
from callboard.library.story.tools.outline.tool import outline_analyzer
from callboard.library.story.tools.prose.tool import prose_analyzer
from callboard.library.story.tools.reader.tool import reader_experience_simulator
from callboard.library.story.tools.stakes.tool import stakes_mapper
from callboard.packs.control_room.evidence import (
    FOLDER,
    PACK,
    grounding,
    known_names,
    propose_calls,
)
from callboard.packs.control_room.requests import describe_task, take_seeds, task_router
from callboard.packs.control_room.room import desk_of
from callboard.studio.studio import Studio

__all__ = [
    "canon_checker",
    "chat",
    "conference",
    "consistency_checker",
    "file_locator",
    "outline_analyzer",
    "plan",
    "prose_analyzer",
    "reader_experience_simulator",
    "reask",
    "recipes",
    "scene_draft_validator",
    "stakes_mapper",
    "task_router",
]

plan: Final = plan_choreography(desk_of)
chat: Final = Chat(PACK)


def recipes(studio: Studio | None) -> RecipeShelf:
    """Open the shelf of recipes for a studio; without one, what comes with the pack."""
    shelf = RecipeHouse(PACK, FOLDER / "recipes", take_seeds, describe_task, grounding)
    return RecipeShelf(shelf, studio)


def bring() -> Supplies:
    """Return what Control Room brings to a conference."""
    return Supplies(grounding(), propose_calls, known_names)


conference: Final = ConferenceRounds(PACK, bring)
reask: Final = AskAgain(PACK, bring)
