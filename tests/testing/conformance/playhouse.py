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
EDITED = "a heron stood in the reeds"


def made(**artifacts: Any) -> str:
    """Return what a role of a loop says."""
    told = [{"type": kind, "content": each} for kind, each in artifacts.items()]
    return json.dumps({"artifacts": told})


OUTLINE = made(outline={"points": ["a light"]})
DRAFT = made(draft={"text": SEA})
NOTES = made(notes={"verdict": "ok", "findings": []})
PASSED = made(report={"decision": "pass", "why": "clear"})
BLOCKED = made(report={"decision": "block", "why": "dark", "remediation": [{"fix": "light"}]})
MADE = {"outline": OUTLINE, "draft": DRAFT, "notes": NOTES, "gate": PASSED}


class LoopLines(dict[str, str]):
    """What everybody in a loop says, by step; a model that failed moves the numbers on."""

    def get(self, key: str, default: Any = None) -> Any:
        """Return what is said at a key; the showrunner leaves the notes out."""
        number, _, rest = key.partition("/")
        if key in self or not rest:
            return super().get(key, default)
        if rest == "stable":
            return json.dumps({"goal_achieved": True})
        if rest.startswith("next"):
            steps = {"1": "step_1_outline", "2": "step_2", "3": "step_4_gate"}
            step = steps.get(number, "step_5_copy")
            return json.dumps({"step": step, "reason": "it is due"})
        return MADE[rest.partition("/")[0].split("_")[2]]


CALLS = (
    *(f"{number}/next" for number in (1, 2, 3, 4)),
    "1/step_1_outline/planner/ask",
    "2/step_2_draft/writer/ask",
    "3/step_4_gate/critic/ask",
    "5/stable",
)
PLAYBOOK_CALLS = (
    "1/step_1_outline/planner/ask",
    "2/step_2_draft/writer/ask",
    "3/step_3_notes/editor/ask",
    "3/step_3_notes/critic/ask",
    "4/step_4_gate/critic/ask",
    "5/step_1_outline/planner/ask",
    "7/step_4_gate/critic/ask",
)

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
        {"brief": "A text about a lighthouse.", "is_interactive": False},
        sample=SAMPLE,
        lines=LoopLines(),
        edits={
            "1/step_1_outline/planner/ask": (made(outline={"points": [EDITED]}), EDITED),
            "4/next/decided": (
                {"decision": {"step": "step_3_notes", "reason": EDITED}},
                "4/step_3_notes/critic/ask",
            ),
        },
        survives=CALLS,
    ),
    "loop that asks": Scenario(
        "examples/loop",
        {"brief": "A text about a lighthouse.", "policy": "playbook"},
        sample=SAMPLE,
        lines=LoopLines({"4/step_4_gate/critic/ask": BLOCKED}),
        answers={f"{number}/limit": "retry" for number in range(5, 12)},
        survives=PLAYBOOK_CALLS,
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
