"""What `pack.yaml` names besides tools and doors: conference, chat, plans and recipes."""

from typing import Final

from callboard.choreography.chat import Chat
from callboard.choreography.conference import AskAgain, ConferenceRounds, Supplies
from callboard.choreography.planning import plan_choreography
from callboard.choreography.recipe import RecipeHouse, RecipeShelf
from callboard.packs.control_room.evidence import (
    FOLDER,
    PACK,
    grounding,
    known_names,
    propose_calls,
)
from callboard.packs.control_room.pages import FINDER, TELLING
from callboard.packs.control_room.requests import describe_task, take_seeds
from callboard.packs.control_room.room import plan_maker_of
from callboard.studio.studio import Studio

_SUBJECTS: Final = ("scene", "scenes", "outline", "outlines", "canon", "canons")

plan: Final = plan_choreography(plan_maker_of)
chat: Final = Chat(PACK, FINDER)


def recipes(studio: Studio | None) -> RecipeShelf:
    """Open the shelf of recipes for a studio; without one, what comes with the pack."""
    house = RecipeHouse(
        PACK,
        FOLDER / "recipes",
        take_seeds,
        describe_task,
        grounding,
        proof="proofreader",
        pages=FINDER,
        telling=TELLING,
    )
    return RecipeShelf(house, studio)


def bring() -> Supplies:
    """Return what Control Room brings to a conference."""
    return Supplies(grounding(), propose_calls, known_names, _SUBJECTS)


conference: Final = ConferenceRounds(PACK, bring)
reask: Final = AskAgain(PACK, bring)
