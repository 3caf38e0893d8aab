"""Contenders in turns: every round each of them on a fresh folder; the best round counts.

Each turn has an event loop of its own: DBOS shuts the executor of the loop it ran on.
"""

import asyncio
import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.peers import Contender
from bench.workspace import fresh_folder

WARM_UP_STEPS = 20


@dataclass(frozen=True, slots=True)
class Lap:
    """A contender's best round."""

    name: str
    step_ms: float
    cpu_ms: float
    """What the step cost this process, waiting not counted; steadier than the time it took."""


def race(
    contenders: Sequence[Callable[[], Contender]], *, runs: int, steps: int, rounds: int
) -> dict[str, list[Lap]]:
    """Return each system's laps, the fastest first."""
    took: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for _ in range(rounds):
        for make in contenders:
            contender = make()
            turn = asyncio.run(_turn(contender, runs, steps))
            took.setdefault((contender.system, contender.name), []).append(turn)
    laps: dict[str, list[Lap]] = {}
    for (system, name), turns in took.items():
        wall, cpu = (min(each) / runs / steps * 1000 for each in zip(*turns, strict=True))
        laps.setdefault(system, []).append(Lap(name, wall, cpu))
    return {system: sorted(each, key=lambda lap: lap.step_ms) for system, each in laps.items()}


async def _turn(contender: Contender, runs: int, steps: int) -> tuple[float, float]:
    """Return the seconds that the clock and the processor counted."""
    with fresh_folder() as folder:
        await contender.open(folder)
        try:
            await contender.perform(min(runs, 5), WARM_UP_STEPS)
            # What the imports of all contenders left behind is nobody's cost.
            gc.collect()
            gc.freeze()
            wall, cpu = time.perf_counter(), time.process_time()
            await contender.perform(runs, steps)
            return time.perf_counter() - wall, time.process_time() - cpu
        finally:
            await contender.close()


def described(laps: dict[str, list[Lap]]) -> tuple[str, ...]:
    """Return everything that was measured, in words."""
    return tuple(
        f"{lap.name}: {lap.step_ms:.3f} ms per step, {lap.cpu_ms:.3f} ms of processor time"
        for system in laps.values()
        for lap in system
    )
