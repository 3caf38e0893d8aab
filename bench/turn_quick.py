"""A Quick turn with a model that answers at once: what the machinery of a conversation costs.

Each turn is a durable run: the message is stored, routed by code, a row is written to a domain in
memory, the reply made, and the whole state saved in one transaction. One of the turns asks a model.
"""

import asyncio
import importlib.util
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from bench.report import Measured, Result
from bench.workspace import fresh_folder
from callboard.choreography.turn.domain import Who
from callboard.choreography.turn.talk import Talk
from callboard.models import Line, Script
from callboard.studio.project import Project
from callboard.studio.studio import Opening, Studio

TESTS = Path(__file__).parents[1] / "tests" / "turn"
GOAL_MS = 20.0


def measure(*, quick: bool) -> Measured:
    """Talk."""
    with fresh_folder() as folder:
        return asyncio.run(_measure(folder, 10 if quick else 60))


def _load(name: str) -> Any:
    sys.path.insert(0, str(TESTS))
    spec = importlib.util.spec_from_file_location(f"bench_{name}", TESTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


async def _measure(folder: Path, times: int) -> Measured:
    domain = _load("tiny_domain").TinyDomain()
    root = folder / "project"
    root.mkdir()
    Project.init(root)
    script = Script(Line(json={"steps": []}, prompt_type="quick", times=None), _answer)
    opening = Opening(
        packs=(_load("turn_parlour").make_pack(folder, domain),),
        providers={"script": script},
        flags={"models": {"default": "script"}},
        environment={"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")},
    )
    async with Studio.open(root, opening) as studio:
        session = (await studio.sessions.current()).id
        talk = Talk(studio, domain, "house")
        await _say(talk, session, "add task Warm up")
        routed = [await _say(talk, session, f"add task Number {n}") for n in range(times)]
        asked = [await _say(talk, session, f"what about number {n}") for n in range(times)]
    assert domain.writes == times + 1
    routed_ms, asked_ms = statistics.median(routed), statistics.median(asked)
    return Measured(
        (
            _result("a Quick turn that code routes (ms)", routed_ms),
            _result("a Quick turn with an instant model, two calls (ms)", asked_ms),
        ),
        (f"routed: fastest {min(routed):.1f} ms, slowest {max(routed):.1f} ms",),
    )


def _answer(request: Any) -> Line | None:
    if request.prompt_type == "reply":
        return Line("Nothing more is known about it.")
    said = {"engagement_summary": "They add tasks.", "key_decisions": []}
    return Line(json=said) if request.prompt_type == "summarize" else None


def _result(name: str, took_ms: float) -> Result:
    goal = "under 20 ms"
    return Result(name, took_ms, GOAL_MS, "the goal", took_ms / GOAL_MS, goal, took_ms < GOAL_MS)


async def _say(talk: Talk, session: str, message: str) -> float:
    started = time.perf_counter()
    who = Who("ann", session)
    done = await talk.send(message, session_id=session, who=who, mode="quick")
    assert done.action == "respond", done.message
    return (time.perf_counter() - started) * 1000
