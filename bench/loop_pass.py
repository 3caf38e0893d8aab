"""A loop of eight steps with models that answer at once: what the machinery itself costs.

Seventeen calls by a model's decisions, eight by the playbook: each with its prompt laid out, stored
and measured, its answer checked, its artifacts stored with provenance, all durable.
"""

import asyncio
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from bench.report import Measured, Result
from bench.workspace import fresh_folder
from callboard.core.vocabulary import RunState

TESTS = Path(__file__).parents[1] / "tests"
GOAL_MS = 150.0
CALLS = {"llm": 17, "playbook": 8}


def measure(*, quick: bool) -> Measured:
    """Play."""
    sys.path[:0] = [str(TESTS / "choreography" / "loop"), str(TESTS)]
    with fresh_folder() as folder:
        return asyncio.run(_measure(folder, 3 if quick else 20))


async def _measure(folder: Path, times: int) -> Measured:
    from loopkit import Kit

    kit = Kit(folder)
    took: dict[str, list[float]] = {policy: [] for policy in CALLS}
    async with kit.open() as studio:
        for number in range(times + 1):
            for policy in CALLS:
                spent = await _play(kit, studio, policy)
                # The first of each warms up.
                took[policy] += [spent] if number else []
    results = [
        Result(
            f"a loop of eight steps by {policy}, {CALLS[policy]} calls (ms)",
            median := statistics.median(spent),
            GOAL_MS,
            "the goal",
            median / GOAL_MS,
            f"under {GOAL_MS:.0f} ms",
            median < GOAL_MS,
        )
        for policy, spent in took.items()
    ]
    fastest = ", ".join(f"{policy} {min(spent):.1f} ms" for policy, spent in took.items())
    return Measured(tuple(results), (f"fastest: {fastest}",))


async def _play(kit: Any, studio: Any, policy: str) -> float:
    kit.company.calls.clear()
    started = time.perf_counter()
    args = {"policy": policy, "is_interactive": False}
    run = await studio.start("loops/story_spark", args)
    ended = await studio.engine.wait(run.id)
    spent = (time.perf_counter() - started) * 1000
    assert ended.state is RunState.DONE, ended.error
    assert len(kit.company.calls) == CALLS[policy]
    return spent
