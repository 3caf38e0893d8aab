"""Bytes on disk after a run whose state has grown to 1 MB over 1,000 steps.

Each step adds about 1,000 characters. Ours are the database and the readable mirror in the run
folder, every step kept in a slot. LangGraph keeps a list with a reducer, its default channel, and
stores it whole at each step; its newer, opt-in `DeltaChannel` is shown for information. All
databases are closed first, so no write-ahead log is counted.
"""

import asyncio
import random
import string
from pathlib import Path

from bench.ours import House
from bench.peers.langgraph import VERSION, grow
from bench.report import Measured, Result, costlier
from bench.workspace import fresh_folder, stored_bytes
from callboard.core.canonical import Json
from callboard.engine.run import Run
from callboard.engine.scope import StepScope

STATE_BYTES = 1_000_000


def measure(*, quick: bool) -> Measured:
    """Let three runs grow."""
    steps = 100 if quick else 1000
    letters = random.Random(7)
    size = STATE_BYTES // 1000
    chunks = ["".join(letters.choices(string.ascii_letters, k=size)) for _ in range(steps)]
    with fresh_folder() as folder:
        asyncio.run(_ours(folder, chunks))
        ours = stored_bytes(folder)
        database = (folder / "callboard.db").stat().st_size
    name = f"state grown to {size * steps / 1e6:.1f} MB over {steps:,} steps (MB stored)"
    return Measured(
        (
            _against(name, ours, chunks, "default channels", delta=False),
            _against(name, ours, chunks, "opt-in DeltaChannel", delta=True),
        ),
        (f"ours: {database / 1e6:.2f} MB database, {(ours - database) / 1e6:.2f} MB mirror",),
    )


def _against(name: str, ours: int, chunks: list[str], way: str, *, delta: bool) -> Result:
    with fresh_folder() as folder:
        grow(folder, chunks, delta=delta)
        theirs = stored_bytes(folder)
    goal = None if delta else 1 / 50
    words = "" if delta else "at most 1/50"
    peer_name = f"{VERSION}, {way}"
    return costlier(name, ours / 1e6, theirs / 1e6, peer_name, at_most=goal, goal=words)


async def _ours(folder: Path, chunks: list[str]) -> None:
    async def body(run: Run) -> Json:
        parts: list[str] = []
        for number, chunk in enumerate(chunks):

            async def act(_scope: StepScope, chunk: str = chunk) -> Json:
                return chunk

            parts.append(await run.step(f"part/{number}", act, slot=f"part_{number}"))
        assert parts == chunks
        return len(parts)

    house = await House.open(folder, body, mirror=True)
    await house.run(len(chunks))
    await house.close()
