"""The house of the tests on conferences: its pack, its rules, where its story lies."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import callboard.packs.control_room as control_room
from callboard.studio.studio import Studio

OpenHall = Callable[..., AbstractAsyncContextManager[Studio]]

PROMPTS = Path(control_room.__file__).parent / "prompts"
FORTRESS = Path(__file__).parents[2] / "fortress" / "project"

HOUSE = """
from callboard.choreography.chat import Chat
from callboard.choreography.conference import AskAgain, ConferenceRounds, ProposedCall, Supplies
from callboard.choreography.grounding import Grounding
from callboard.replies.evidence import EvidenceRules

RULES = EvidenceRules.from_data({
    "chief": [["receipt"], ["scene_quote"]],
    "planner": [["receipt"], ["scene_quote"]],
    "writer": [["scene_quote"]],
    "editor": [["scene_quote"]],
    "critic": [["receipt"], ["scene_quote"]],
})

def kind_of(_studio):
    return lambda path: "scene" if "/Scenes/" in path else "other"

def propose(context, message):
    return (
        ProposedCall("search_text", {"text": "Kael"}, "where Kael is named"),
        ProposedCall("find_files", {"glob": "**/*.md"}, "which files there are"),
    )

SUPPLIES = Supplies(
    Grounding(RULES, kind_of),
    propose,
    lambda context: ("Kael", "Mira"),
    ("scene", "scenes", "outline", "outlines", "canon"),
)
conference = ConferenceRounds("hall", lambda: SUPPLIES)
reask = AskAgain("hall", lambda: SUPPLIES)
chat = Chat("hall")
"""
PACK = """
name: hall
prompts: {prompts}
choreographies:
  conference: house.py:conference
  reask: house.py:reask
  chat: house.py:chat
agents:
  - {{id: chief, name: Chief, archetype: chief, owns: coordination, order: 1}}
  - {{id: planner, name: Planner, archetype: planner, owns: the outline, order: 2}}
  - {{id: writer, name: Writer, archetype: writer, owns: prose, order: 3}}
  - {{id: editor, name: Editor, archetype: editor, owns: clarity, order: 4}}
  - {{id: critic, name: Critic, archetype: critic, owns: doubt, order: 5}}
"""
