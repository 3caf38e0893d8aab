"""A Quick turn in a kitchen with a model that answers at once: what all around the model costs.

Each turn is a durable run: the message is stored, understood, rows are read or written in the
kitchen's own database, the reply is made, and the whole state is saved in one transaction. One
kind of turn is understood by code alone. The others ask the model what to do: to look something
up, or nothing, in which case the model words the reply, too. Prompts and replies are kept.
"""

import asyncio
import statistics
import time
from pathlib import Path
from typing import NamedTuple

from bench.report import Measured, Result
from bench.workspace import fresh_folder
from callboard.models import Line, Script
from callboard.models.types import ModelRequest
from callboard.packs.alfred.project import KitchenProject
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio

GOAL_MS = 20.0
PERSON = "ann"
LOOK_UP = {
    "description": "Read what is in stock",
    "step_type": "read",
    "subdomain": "inventory",
    "query": {"table": "inventory_items", "limit": 5},
}


def measure(*, quick: bool) -> Measured:
    """Talk."""
    with fresh_folder() as folder:
        return asyncio.run(_measure(folder, 10 if quick else 60))


async def _measure(folder: Path, times: int) -> Measured:
    root = folder / "project"
    root.mkdir()
    Project.init(root)
    opening = Opening(
        providers={"script": Script(_answer)},
        flags={"models": {"default": "script"}, "pack": "alfred"},
        environment={"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")},
    )
    async with Studio.open(root, opening) as studio:
        alfred = KitchenProject(studio)
        await alfred.add_person(PERSON, "Ann")
        session = (await studio.sessions.current()).id
        await _say(alfred, session, "add 3 eggs to the fridge")
        await _say(alfred, session, "ponder what there might be")
        kinds = {
            "that code understands": "add {} eggs to the fridge",
            "with an instant model, which looks something up": "ponder what there might be, {}",
            "with an instant model, which words the reply": "muse about number {}",
        }
        turns = {
            name: [await _say(alfred, session, said.format(n + 2)) for n in range(times)]
            for name, said in kinds.items()
        }
    return Measured(
        tuple(_result(f"a Quick turn {name} (ms)", took) for name, took in turns.items()),
        tuple(_note(name, took) for name, took in turns.items()),
    )


def _answer(request: ModelRequest) -> Line:
    match request.metadata.get("prompt_type"):
        case "quick":
            is_musing = "muse about" in request.messages[-1].content
            return Line(json={"steps": [] if is_musing else [LOOK_UP]})
        case "summarize":
            return Line(json={"engagement_summary": "They look.", "key_decisions": []})
        case _:
            return Line("There are eggs.")


def _result(name: str, took: list["Took"]) -> Result:
    median = statistics.median(each.ms for each in took)
    goal = "under 20 ms"
    return Result(name, median, GOAL_MS, "the goal", median / GOAL_MS, goal, median < GOAL_MS)


def _note(name: str, took: list["Took"]) -> str:
    times = [each.ms for each in took]
    calls = statistics.mean(each.calls for each in took)
    return f"{name}: {min(times):.1f} to {max(times):.1f} ms, {calls:.1f} calls each"


class Took(NamedTuple):
    """What a turn took."""

    ms: float
    calls: int


async def _say(alfred: KitchenProject, session: str, message: str) -> Took:
    started = time.perf_counter()
    who = alfred.who(PERSON, session)
    done = await alfred.talk.send(message, session_id=session, who=who, mode="quick")
    ms = (time.perf_counter() - started) * 1000
    assert done.action == "respond", done.message
    assert not done.warnings, done.warnings
    return Took(ms, len(done.calls))
