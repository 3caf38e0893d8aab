"""A process lets go of a run after 10,000 finished steps; another opens the database and goes on.

The time is from opening the database to the end of the run, which executes one more step. How
often each step's function was called is counted: no finished step may be executed again.
"""

import asyncio
import time
from pathlib import Path

from bench.ours import House
from bench.peers.contender import payload
from bench.report import Measured, Result
from bench.workspace import fresh_folder
from callboard.core.canonical import Json
from callboard.core.vocabulary import RunState
from callboard.engine.run import Run
from callboard.engine.scope import StepScope

GOAL_SECONDS = 1.0


class Performance:
    """The choreography, and a count of what it really did."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.executed = 0
        self.last_reached = asyncio.Event()
        self.may_end = asyncio.Event()

    async def body(self, run: Run) -> Json:
        """Perform all steps, then one that waits."""
        for number in range(self.steps):
            await run.step(f"step/{number}", self._act, inputs={"number": number})
        return await run.step("last", self._last)

    async def _act(self, _scope: StepScope) -> Json:
        self.executed += 1
        return payload()

    async def _last(self, _scope: StepScope) -> Json:
        self.last_reached.set()
        await self.may_end.wait()
        return "done"


def measure(*, quick: bool) -> Measured:
    """Interrupt a run and resume it, three times."""
    steps = 1000 if quick else 10_000
    took: list[tuple[float, float, int]] = []
    for _ in range(1 if quick else 3):
        with fresh_folder() as folder:
            took.append(asyncio.run(_interrupt_and_resume(folder, steps)))
    resumed, executing, repeated = min(took)
    return Measured(
        (
            Result(
                f"resume a run of {steps:,} steps (s)",
                resumed,
                executing,
                "executing the steps",
                executing / resumed,
                "under 1 s, no step again",
                resumed < GOAL_SECONDS and all(again == 0 for _, _, again in took),
            ),
        ),
        (f"steps executed again: {repeated} of {steps:,}",),
    )


async def _interrupt_and_resume(folder: Path, steps: int) -> tuple[float, float, int]:
    first = Performance(steps)
    house = await House.open(folder, first.body)
    started = time.perf_counter()
    run = await house.engine.create("bench", {}, house.session_id)
    await first.last_reached.wait()
    executing = time.perf_counter() - started
    assert first.executed == steps
    await house.close()

    again = Performance(steps)
    again.may_end.set()
    started = time.perf_counter()
    house = await House.open(folder, again.body)
    await house.engine.recover()
    ended = await house.engine.wait(run.id)
    resumed = time.perf_counter() - started
    assert ended.state is RunState.DONE, ended.error
    await house.close()
    return resumed, executing, again.executed
