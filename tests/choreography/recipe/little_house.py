"""A small project, a small pack with its own tools, and a model that says what recipes want."""

import json
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from callboard.choreography.recipe import RunView
from callboard.core.vocabulary import RunRecord
from callboard.models import Line, ModelRequest
from callboard.studio.studio import Studio

PACK = Path(__file__).parent / "pack"
SCENE = "Story/Scenes/SCN-05.md"
OUTLINE = "Story/SCN-outline.md"
PROSE = "Kael crossed the yard and the gate groaned behind him like an old dog."

Says = dict[str, Any]
OpenHouse = Callable[..., AbstractAsyncContextManager[Studio]]


def receipt_in(request: ModelRequest) -> str:
    found = re.search(r"receipt_id: (rcpt_\w+)", request.prompt_text)
    return found[1] if found else "rcpt_none"


def says(**changes: Any) -> Callable[[ModelRequest], Line | str]:
    """Return a model that answers by prompt type; a change is a text, a line, or a function."""
    usual: Says = {
        "brief": lambda r: f"Kael reaches the gate.\n\nEvidence: receipt_id: {receipt_in(r)}",
        "write": f'{PROSE}\n\nEvidence: slot:scene_brief "Kael reaches the gate"',
        "polish": f'{PROSE} Then silence.\n\nEvidence: slot:draft "Kael crossed the yard"',
        "check": "All facts agree.\n\nVerdict: PASS\n\nEvidence: scope: checked the scene",
        "react": 'It holds.\n\nEvidence: slot:edited_draft "the gate groaned behind him"',
        "report": lambda r: f"Nothing.\n\nVerdict: PASS\n\nEvidence: receipt_id: {receipt_in(r)}",
        **changes,
    }

    def answer(request: ModelRequest) -> Line | str:
        said = usual[str(request.prompt_type)]
        return said(request) if callable(said) else said

    return answer


def held(moment: str) -> Callable[[ModelRequest], Line]:
    """Return an answerer that gives the usual answer when the moment is released."""
    return lambda request: Line(str(says()(request)), hold=moment)


def detail(studio: Studio, run: RunRecord | str) -> dict[str, Any]:
    run_id = run if isinstance(run, str) else run.id
    record = studio.engine.load(run_id)
    return studio.database.read(lambda connection: RunView(connection, record).detail())


async def play(studio: Studio, recipe: str = "draft", **raw: Any) -> RunRecord:
    """Start a run and wait for its end."""
    given = {"description": "Draft scene 5", **raw}
    run = await studio.start(f"little/{recipe}", given)
    return await studio.engine.wait(run.id)


def mirrored(project: Path, run: RunRecord, name: str = "run.json") -> Any:
    text = (project / ".callboard" / "runs" / run.id / name).read_text("utf-8")
    return (
        [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)
    )


def bundled() -> dict[str, Any]:
    return json.loads((PACK / "recipes" / "draft.json").read_text())
