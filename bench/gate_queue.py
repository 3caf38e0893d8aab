"""The queue before the models, limiter included, with a provider in this process that takes 50 ms.

A thousand calls through twenty slots would ideally take 1,000 / 20 x 50 ms. The user's call comes
when all slots hold background work and hundreds of such calls wait; measured is how long it takes
until the provider hears of it. A waiting call is a task that awaits its answer; its request and
prompt are counted.
"""

import asyncio
import gc
import statistics
import time
from collections.abc import AsyncGenerator

import psutil

from bench.report import Measured, Result, costlier
from callboard.core.settings.sections import QueueSettings
from callboard.models import (
    DirectGate,
    Ended,
    Message,
    ModelRequest,
    ProviderChunk,
    TextChunk,
    Usage,
)
from callboard.models.traffic.limiter import Limiter
from callboard.models.traffic.queue import QueueGate

LATENCY_SECONDS = 0.05
SLOTS = 20
GOAL_IDEAL = 1.1
GOAL_WAITING_MB = 100.0


class Steady:
    """Answers every call after the same time; hears when each begins."""

    constrains_json = False

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.heard: dict[str, float] = {}
        self.under_way = 0
        self.most = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
        if request.priority == 100:
            self.heard[request.prompt_text] = time.perf_counter()
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            if self.seconds:
                await asyncio.sleep(self.seconds)
            yield TextChunk("The lighthouse keeper.")
            yield Ended(request.model, Usage(5, 4))
        finally:
            self.under_way -= 1

    async def close(self) -> None:
        """Hold nothing."""


def measure(*, quick: bool) -> Measured:
    """Queue, interrupt, wait and compare."""
    calls = 200 if quick else 1000
    total, plain = _through_the_slots(calls, rounds=2 if quick else 3)
    ideal = calls / SLOTS * LATENCY_SECONDS
    starts = asyncio.run(_user_starts(5 if quick else 40))
    megabytes = asyncio.run(_waiting_megabytes(1000 if quick else 10_000))
    waiting = "1,000" if quick else "10,000"
    worst = max(starts) * 1000
    return Measured(
        (
            costlier(
                f"{calls:,} queued calls, 50 ms each, {SLOTS} slots (s)",
                total,
                ideal,
                "the ideal",
                at_most=GOAL_IDEAL,
                goal="within 10 % of the ideal",
            ),
            Result(
                "a user's call into a full queue: time to its start, worst (ms)",
                worst,
                LATENCY_SECONDS * 1000,
                "one call",
                worst / (LATENCY_SECONDS * 1000),
                "within one call's latency",
                worst <= LATENCY_SECONDS * 1000,
            ),
            Result(
                f"{waiting} calls waiting: memory (MB)",
                megabytes,
                None,
                "",
                None,
                "under 100 MB for 10,000",
                megabytes < GOAL_WAITING_MB,
            ),
        ),
        (
            f"the queued calls through a plain semaphore instead: {plain / ideal:.2f}x the ideal,"
            " which is what this machine allows",
            f"a user's call into a full queue: median {statistics.median(starts) * 1000:.2f} ms",
        ),
    )


def _through_the_slots(calls: int, rounds: int) -> tuple[float, float]:
    """Return the best time of the queue, and of a semaphore that knows nothing but slots."""
    took = [(asyncio.run(_queued(calls)), asyncio.run(_unordered(calls))) for _ in range(rounds)]
    queued, plain = (min(each) for each in zip(*took, strict=True))
    return queued, plain


async def _queued(calls: int) -> float:
    provider = Steady(LATENCY_SECONDS)
    gate = _queue(provider)
    started = time.perf_counter()
    await asyncio.gather(*(gate.complete(_request(f"q{n}", n)) for n in range(calls)))
    took = time.perf_counter() - started
    assert provider.most == SLOTS
    return took


async def _unordered(calls: int) -> float:
    gate = DirectGate({"script": Steady(LATENCY_SECONDS)})
    slots = asyncio.Semaphore(SLOTS)

    async def call(number: int) -> None:
        async with slots:
            await gate.complete(_request(f"q{number}", number))

    started = time.perf_counter()
    await asyncio.gather(*(call(number) for number in range(calls)))
    return time.perf_counter() - started


async def _user_starts(times: int) -> list[float]:
    """Return how long each of the user's calls waited for the provider to hear of it."""
    provider = Steady(LATENCY_SECONDS)
    gate = _queue(provider)
    asked: dict[str, float] = {}

    async def work(number: int) -> None:
        while True:
            await gate.complete(_request(f"w{number}", number, priority=20))

    workers = [asyncio.create_task(work(number)) for number in range(25 * SLOTS)]
    await asyncio.sleep(3 * LATENCY_SECONDS)
    for number in range(times):
        # Spread over the rhythm of the background, so that no moment is luckier than another.
        await asyncio.sleep(LATENCY_SECONDS * (1 + number / times))
        name = f"user {number}"
        asked[name] = time.perf_counter()
        await gate.complete(_request(name, number, priority=100))
    for task in workers:
        task.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
    return [provider.heard[name] - moment for name, moment in asked.items()]


async def _waiting_megabytes(calls: int) -> float:
    """Return the memory of calls that wait for a slot."""
    gate = _queue(Steady(3600.0))
    running = [asyncio.create_task(gate.complete(_request("r", n))) for n in range(SLOTS)]
    await asyncio.sleep(0)
    process = psutil.Process()
    gc.collect()
    before = process.memory_info().rss
    waiting = [
        asyncio.create_task(gate.complete(_request(f"waiting {n}", n))) for n in range(calls)
    ]
    # Two turns of the loop: each task takes its first step, then waits for its slot.
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert gate.snapshot().waiting_count == calls
    megabytes = (process.memory_info().rss - before) / 1e6
    for task in (*running, *waiting):
        task.cancel()
    await asyncio.gather(*running, *waiting, return_exceptions=True)
    return megabytes


def _queue(provider: Steady) -> QueueGate:
    limits = QueueSettings(global_limit=SLOTS, provider_limit=SLOTS)
    return QueueGate(DirectGate({"script": provider}), limits, limiter=Limiter())


def _request(text: str, number: int, priority: int = 0) -> ModelRequest:
    messages = (Message("user", text),)
    return ModelRequest("script", messages, session_id=f"sess_{number % 50}", priority=priority)
