"""Consolidation of 1,000 decisions into the story's graph, and what a prompt is given of 10,000.

The decisions are about forty people who are known already; one in fifty contradicts what is known.
No model is asked. The time is that of the whole run, from its start to its report, durable.
"""

import asyncio
import statistics
import time
from pathlib import Path
from typing import Any, cast

from bench.report import Measured, Result
from bench.workspace import fresh_folder
from callboard.core.vocabulary import RunState
from callboard.knowledge import Node
from callboard.models import Script
from callboard.packs.writers_factory.memory import Consolidator, Memory
from callboard.packs.writers_factory.model import SceneMeta
from callboard.packs.writers_factory.workspace import Workspace
from callboard.store.connection import Connection
from callboard.studio.opening import Opening
from callboard.studio.packs import load_pack
from callboard.studio.project import Project
from callboard.studio.studio import Studio

PACK = Path(__file__).parents[1] / "src" / "callboard" / "packs" / "writers_factory"
GOAL_SECONDS = 2.0
GOAL_CONTEXT_MS = 2.0
PEOPLE = 40


def measure(*, quick: bool) -> Measured:
    """Save, consolidate, read."""
    with fresh_folder() as folder:
        return asyncio.run(_measure(folder, 100 if quick else 1_000, 1_000 if quick else 10_000))


async def _measure(folder: Path, decisions: int, kept: int) -> Measured:
    root = folder / "book"
    root.mkdir()
    Project.init(root)
    opening = Opening(
        packs=(load_pack(PACK),),
        providers={"script": Script()},
        flags={"models": {"default": "script"}},
        environment={"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")},
    )
    async with Studio.open(root, opening) as studio:
        memory = Memory(Workspace(studio))
        people = [
            Node(f"character:p{n}", "character", f"P{n}", (), {"eye_colour": "green"})
            for n in range(PEOPLE)
        ]
        await memory.graph.merge(people)
        seconds, report = await _consolidate(studio, memory, decisions)
        context_ms = await _context(studio, memory, kept)
    assert report["entries_seen"] == decisions, report
    assert report["conflicts"] == decisions // 50, report
    return Measured(
        (
            Result(
                f"consolidation of {decisions} decisions (s)",
                seconds,
                None,
                "",
                None,
                f"under {GOAL_SECONDS:g} s",
                seconds < GOAL_SECONDS,
            ),
            Result(
                f"memory of a prompt out of {kept} decisions, warm (ms)",
                context_ms,
                None,
                "",
                None,
                f"under {GOAL_CONTEXT_MS:g} ms",
                context_ms < GOAL_CONTEXT_MS,
            ),
        ),
        (f"{report['conflicts']} contradictions found, {report['nodes_updated']} people changed",),
    )


async def _consolidate(
    studio: Studio, memory: Memory, decisions: int
) -> tuple[float, dict[str, Any]]:
    def save(connection: Connection) -> None:
        for number in range(decisions):
            person = f"p{number % PEOPLE}"
            key, value = f"{person}_trait_{number}", f"Trait number {number}"
            if number % 50 == 0:
                key, value = f"p{number // 50 % PEOPLE}_eyes", "brown"
            memory.facts.save_in(connection, "character", key, value, "brainstorm")

    await studio.database.write(save)
    started = time.perf_counter()
    run = await Consolidator(Workspace(studio)).start()
    ended = await studio.engine.wait(run.id)
    seconds = time.perf_counter() - started
    assert ended.state is RunState.DONE, ended.error
    return seconds, cast("dict[str, Any]", ended.result)


async def _context(studio: Studio, memory: Memory, kept: int) -> float:
    def save(connection: Connection) -> None:
        for number in range(kept):
            category = ("structure", "world", "character", "preference")[number % 4]
            memory.facts.save_in(connection, category, f"key_{number}", f"value {number}", "x")

    await studio.database.write(save)
    scene = SceneMeta("ch2-sc1", 2, 1, characters=("P1", "P2"))
    memory.context(20, scene=scene)
    times: list[float] = []
    for _ in range(50):
        started = time.perf_counter()
        memory.context(20, scene=scene)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)
