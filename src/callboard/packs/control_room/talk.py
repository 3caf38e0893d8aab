"""Conference and chat as Control Room offers them: its staff, its evidence rules, its tools."""

from typing import Final

from callboard.choreography.chat import Chat
from callboard.choreography.conference import AskAgain, ConferenceRounds, Supplies
from callboard.packs.control_room.grounds import PACK, grounding
from callboard.packs.control_room.proposals import known_names, propose_calls

_SUBJECTS: Final = ("scene", "scenes", "outline", "outlines", "canon", "canons")


def bring() -> Supplies:
    """Return what Control Room brings to a conference."""
    return Supplies(grounding(), propose_calls, known_names, _SUBJECTS)


conference: Final = ConferenceRounds(PACK, bring)
reask: Final = AskAgain(PACK, bring)
chat: Final = Chat(PACK)
