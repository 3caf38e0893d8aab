"""A thousand runs of the example recipe wait for a model that does not answer.

Memory is the most the process held while they started and waited, above what it held when it had
done one of everything. Lag is how late a 10 ms timer fires. The user's request is a whole `turn`
(three agent calls, two tool calls), answered by the same process while the thousand go on waiting;
afterwards the model answers and every one of them must finish.
"""

import asyncio
import gc
import shutil
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

import callboard.packs.examples
from bench.report import Measured, Result, costlier
from bench.workspace import fresh_folder
from callboard.core.canonical import Json
from callboard.core.vocabulary import RunState
from callboard.models import Line, ModelRequest, Script
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio

GOAL_MB = 200.0
GOAL_LATENCY = 3.0
TICK_SECONDS = 0.01
GIVE_UP_SECONDS = 120.0
HELD = "slow model"
REPLY = "The lighthouse keeper climbs the stairs once more, " * 8


@dataclass(slots=True)
class Pulse:
    """Watches the event loop and the memory of this process."""

    lags_ms: list[float] = field(default_factory=list[float])
    most_bytes: int = 0

    async def beat(self) -> None:
        """Tick until cancelled."""
        process = psutil.Process()
        ticks = 0
        while True:
            due = time.perf_counter() + TICK_SECONDS
            await asyncio.sleep(TICK_SECONDS)
            self.lags_ms.append(max(0.0, time.perf_counter() - due) * 1000)
            ticks += 1
            if ticks % 10 == 0:
                self.most_bytes = max(self.most_bytes, process.memory_info().rss)

    @property
    def p99_ms(self) -> float:
        """The lag that one tick in a hundred exceeds."""
        return sorted(self.lags_ms)[int(len(self.lags_ms) * 0.99)]


class SlowModel:
    """Answers everything at once, except what the recipe asks first."""

    def __init__(self) -> None:
        # How many requests are to be held, and how many of them have arrived.
        self.to_hold = 0
        self.held = 0
        self.all_held = asyncio.Event()
        self.script = Script(self._answer)

    def _answer(self, request: ModelRequest) -> Line:
        if self.held < self.to_hold and request.prompt_type == "brief":
            self.held += 1
            if self.held == self.to_hold:
                self.all_held.set()
            return Line(REPLY, hold=HELD)
        return Line(REPLY)


def measure(*, quick: bool) -> Measured:
    """Let them wait."""
    with fresh_folder() as folder:
        return asyncio.run(_measure(folder, 100 if quick else 1000, 1.0 if quick else 10.0))


async def _measure(folder: Path, runs: int, watch_seconds: float) -> Measured:
    shutil.copytree(Path(callboard.packs.examples.__file__).parent / "sample", folder / "project")
    Project.init(folder / "project")
    model = SlowModel()
    opening = Opening(
        providers={"script": model.script},
        # As many slots as there are runs, so that all of them wait for the model, not for a slot.
        flags={"models": {"default": "script"}, "queue": _slots(2 * runs)},
        environment={"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")},
    )
    async with Studio.open(folder / "project", opening) as studio:
        await _finish(studio, [(await studio.start("recipe")).id])
        await _latency_ms(studio, 3)
        idle_latency = await _latency_ms(studio, 20)
        idle = await _watch(watch_seconds)
        gc.collect()
        before = psutil.Process().memory_info().rss

        model.to_hold = runs
        starting = Pulse()
        task = asyncio.create_task(starting.beat())
        ids = [(await studio.start("recipe")).id for _ in range(runs)]
        async with asyncio.timeout(GIVE_UP_SECONDS):
            await model.all_held.wait()
        task.cancel()
        waiting = await _watch(watch_seconds)
        held = waiting.most_bytes
        latency = await _latency_ms(studio, 20)
        unfinished = sum(not studio.engine.load(each).is_terminal for each in ids)
        model.script.release(HELD)
        await _finish(studio, ids)
    most = max(starting.most_bytes, held)
    who = f"{runs:,} runs waiting"
    above = (most - before) / 1e6
    return Measured(
        (
            Result(
                f"{who}: memory above idle (MB)",
                above,
                before / 1e6,
                "the idle process",
                above / (before / 1e6),
                "under 200 MB",
                above < GOAL_MB,
            ),
            costlier(
                f"{who}: event-loop lag, 99th percentile (ms)",
                waiting.p99_ms,
                idle.p99_ms,
                "the idle process",
                at_most=None,
            ),
            costlier(
                f"{who}: event-loop lag, most (ms)",
                max(waiting.lags_ms),
                max(idle.lags_ms),
                "the idle process",
                at_most=None,
            ),
            Result(
                f"{who}: a user's request meanwhile (ms)",
                latency,
                idle_latency,
                "the idle process",
                latency / idle_latency,
                f"answered first, at most {GOAL_LATENCY:g}x",
                unfinished == runs and latency / idle_latency <= GOAL_LATENCY,
            ),
        ),
        (
            f"memory while all wait: {(held - before) / 1e6:.0f} MB above idle",
            f"lag while they start: 99th percentile {starting.p99_ms:.0f} ms,"
            f" most {max(starting.lags_ms):.0f} ms",
            f"runs still waiting when the user had been answered: {unfinished:,} of {runs:,};"
            " all of them finished afterwards",
        ),
    )


def _slots(number: int) -> dict[str, Json]:
    return {"global_limit": number, "provider_limit": number, "session_limit": number}


async def _watch(seconds: float) -> Pulse:
    pulse = Pulse()
    task = asyncio.create_task(pulse.beat())
    await asyncio.sleep(seconds)
    task.cancel()
    return pulse


async def _latency_ms(studio: Studio, times: int) -> float:
    took: list[float] = []
    for _ in range(times):
        started = time.perf_counter()
        run = await studio.start("examples/turn", {"message": "Who has the key?"})
        await _finish(studio, [run.id])
        took.append((time.perf_counter() - started) * 1000)
    return statistics.median(took)


async def _finish(studio: Studio, ids: list[str]) -> None:
    for run_id in ids:
        ended = await studio.engine.wait(run_id)
        assert ended.state is RunState.DONE, ended.error
