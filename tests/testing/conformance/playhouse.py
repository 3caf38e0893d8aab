"""The scenarios of the examples. A new dispatcher is one line in `DISPATCHERS`."""

import json
from pathlib import Path
from typing import Any

import callboard.packs.examples as examples
from callboard.core.vocabulary import RunRecord, RunState
from callboard.engine.changes import Changes
from callboard.studio.studio import Studio
from callboard.testing import Scenario
from callboard.testing.witness import WitnessedProject

# The settings that choose a dispatcher.
DISPATCHERS: dict[str, dict[str, Any]] = {"embedded": {}}

SAMPLE = Path(examples.__file__).parent / "sample"
SEA = "the lighthouse and the sea " * 10
CHOICES = {"round/1/next": "expand", "round/2/next": "ground", "round/3/next": "stable"}
EDITED = "a heron stood in the reeds"

PLAYS = {
    "conference": Scenario(
        "examples/conference",
        {"question": "Who has the key?", "query": "key"},
        sample=SAMPLE,
        edits={"planner/view": (EDITED, EDITED), "summary": (EDITED, EDITED)},
    ),
    "recipe": Scenario(
        "examples/recipe",
        sample=SAMPLE,
        edits={
            "read": ({"path": "Story/lighthouse.md", "text": EDITED}, EDITED),
            "brief": (EDITED, EDITED),
            "draft": (f"{EDITED} {SEA}", EDITED),
        },
    ),
    "loop": Scenario(
        "examples/loop",
        {"text": "A short text."},
        sample=SAMPLE,
        lines={key: json.dumps({"choice": choice}) for key, choice in CHOICES.items()},
        edits={
            "round/1/next": ({"text": "", "data": {"choice": "tighten"}}, "round/1/tighten"),
            "round/1/expand": (EDITED, EDITED),
        },
    ),
    "turn": Scenario(
        "examples/turn",
        {"message": "Where is the key?"},
        sample=SAMPLE,
        edits={"facts/facts": (EDITED, EDITED), "quotes/search": ({"quotes": EDITED}, EDITED)},
    ),
    "turn that asks": Scenario(
        "examples/turn",
        {"message": "Where is the key?"},
        sample=SAMPLE,
        lines={"answer": "No."},
        answers={"more": "The brass key of the lamp room, please."},
        edits={"doubts/doubts": (EDITED, EDITED), "answer": (EDITED, EDITED)},
    ),
    "dag": Scenario(
        "examples/dag",
        {"path": "Story/village.md"},
        sample=SAMPLE,
        edits={"read/read": ({"text": EDITED}, EDITED)},
        survives=("outline/outline",),
    ),
}


async def finish_when_resumed(house: WitnessedProject, studio: Studio, run_id: str) -> RunRecord:
    """Wait until a run is over, answering, while somebody else pauses and resumes it."""
    changes = Changes(studio.database)
    while not (run := studio.engine.load(run_id)).is_terminal:
        if run.state is RunState.WAITING:
            for asked in house.questions(studio, run_id):
                await studio.engine.answer(asked.id, house.scenario.answers[asked.key])
        await changes.next()
    return run
