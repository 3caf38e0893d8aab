"""The Foreman's full-tier prompt on a project that remembers 10,000 decisions.

Warm is what a writer sees from the second turn on: the state is gathered from all rooms anew, the
knowledge is ranked, and the seven layers are laid out and counted. Before each of these turns the
message is new. Right after a decision was saved the knowledge is ranked anew; that is shown beside
it.
"""

import asyncio
import statistics
import time
from pathlib import Path

from bench.report import Measured, Result
from bench.workspace import fresh_folder
from callboard.packs.writers_factory.foreman.foreman import Foreman
from callboard.packs.writers_factory.foreman.survey import open_foreman
from callboard.packs.writers_factory.rooms import Rooms
from callboard.packs.writers_factory.workspace import Workspace
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio

GOAL_MS = 5.0
MODEL = "openai:gpt-4o"


def measure(*, quick: bool) -> Measured:
    """Remember many decisions and assemble many prompts."""
    entries = 500 if quick else 10_000
    with fresh_folder() as folder:
        return asyncio.run(_measure(folder, entries, 20 if quick else 200))


async def _measure(folder: Path, entries: int, times: int) -> Measured:
    Project.init(folder)
    async with Studio.open(folder, Opening(flags={"models": {"default": "script"}})) as studio:
        workspace = Workspace(studio)
        rooms = Rooms.open(workspace)
        await _remember(rooms, entries)
        foreman = open_foreman(workspace, rooms)
        prompt = foreman.preview("What is missing?", model=MODEL)
        warm = [_seconds(foreman, f"Turn {n}: what is missing?") for n in range(times)]
        fresh: list[float] = []
        for number in range(5):
            await rooms.memory.save_decision("structure", f"new_{number}", f"decision {number}")
            fresh.append(_seconds(foreman, f"Fresh {number}"))
    ours = statistics.median(warm) * 1000
    after = statistics.median(fresh) * 1000
    return Measured(
        (
            Result(
                f"Foreman's prompt with {entries:,} decisions, warm (ms)",
                ours,
                after,
                "right after a decision was saved",
                after / ours,
                f"under {GOAL_MS:g} ms",
                ours < GOAL_MS,
            ),
        ),
        (
            f"median of {times} prompts of {prompt.total_tokens:,} tokens; 99th percentile"
            f" {statistics.quantiles(warm, n=100)[98] * 1000:.2f} ms",
        ),
    )


async def _remember(rooms: Rooms, entries: int) -> None:
    await rooms.bible.describe(title="The Tide Office", protagonist_name="Ines Varga")
    await rooms.memory.save_decision("character", "ines_fatal_flaw", "decides for others")
    await rooms.memory.save_decision("character", "ines_the_lie", "nobody stays")
    categories = ("structure", "world", "structure", "structure", "preference", "character")
    for number in range(entries - 2):
        # One in two hundred is about somebody: a cast of fifty.
        category = "character" if number % 200 == 0 else categories[number % 5]
        await rooms.memory.save_decision(category, f"key_{number}", f"what was decided, {number}")


def _seconds(foreman: Foreman, message: str) -> float:
    started = time.perf_counter()
    foreman.preview(message, model=MODEL)
    return time.perf_counter() - started
