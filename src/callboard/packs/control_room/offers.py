"""What `pack.yaml` names besides conference and chat: recipes, plans, tools."""

from typing import Final

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
from callboard.packs.control_room.grounds import FOLDER, PACK, grounding
from callboard.packs.control_room.plan_maker import plan_maker_of
from callboard.packs.control_room.router import task_router
from callboard.packs.control_room.seeding import describe_task, take_seeds
from callboard.studio.studio import Studio

__all__ = [
    "canon_checker",
    "consistency_checker",
    "file_locator",
    "outline_analyzer",
    "plan",
    "prose_analyzer",
    "reader_experience_simulator",
    "recipes",
    "scene_draft_validator",
    "stakes_mapper",
    "task_router",
]

plan: Final = plan_choreography(plan_maker_of)


def recipes(studio: Studio | None) -> RecipeShelf:
    """Open the shelf of recipes for a studio; without one, what comes with the pack."""
    house = RecipeHouse(PACK, FOLDER / "recipes", take_seeds, describe_task, grounding)
    return RecipeShelf(house, studio)
