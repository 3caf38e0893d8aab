"""The queue before the models, with a provider in this process that takes 50 ms, or no time.

A thousand calls through twenty slots would ideally take 1,000 / 20 x 50 ms. The user's call comes
when all slots hold background work and hundreds of such calls wait; measured is how long it takes
until the provider hears of it. Overhead is a call through the queue, limiter included, less the
same call to the gate inside, sequentially; litellm's Router is asked in turns with it, less
litellm's own call without the Router. Its provider is its own `mock_response`, ours answers at
once as well. It runs in an environment of its own, because it needs older packages than we do. A
waiting call is a task that awaits its answer; its request and prompt are counted.
"""

import asyncio
import gc
import json
import statistics
import subprocess
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from bench.report import Measured, Result, costlier, faster
from callboard.models import (
    DirectGate,
    Ended,
    Gate,
    Message,
    ModelRequest,
    ProviderChunk,
    TextChunk,
    Usage,
)
from callboard.models.traffic.limits.limiter import Limiter
from callboard.models.traffic.queue import QueueGate
from callboard.models.traffic.waiting.slots import QueueLimits

LATENCY_SECONDS = 0.05
SLOTS = 20
GOAL_IDEAL = 1.1
GOAL_OVERHEAD_MS = 0.5
GOAL_WAITING_MB = 100.0
ROOT = Path(__file__).parent.parent
LITELLM = ROOT / ".venv-litellm" / "bin" / "python"
PEER = Path(__file__).parent / "peers" / "litellm_router.py"


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
    overhead, notes = _overhead(rounds=2 if quick else 6, calls=100 if quick else 500)
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
            *overhead,
        ),
        (
            f"the queued calls through a plain semaphore instead: {plain / ideal:.2f}x the ideal,"
            " which is what this machine allows",
            f"a user's call into a full queue: median {statistics.median(starts) * 1000:.2f} ms",
            *notes,
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


def _overhead(*, rounds: int, calls: int) -> tuple[tuple[Result, ...], tuple[str, ...]]:
    """Compare what the queue adds to a call with what the Router adds."""
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    with _litellm() as ask:
        for _ in range(rounds):
            ours.append(asyncio.run(_ours(calls)))
            if ask is not None:
                theirs.append(ask(calls))
    gate_ms, direct_ms = (min(each) for each in zip(*ours, strict=True))
    added = gate_ms - direct_ms
    first = Result(
        "overhead of the queue per call, median (ms)",
        added,
        direct_ms,
        "the call inside",
        added / direct_ms,
        "under 0.5 ms",
        added < GOAL_OVERHEAD_MS,
    )
    if not theirs:
        return (first,), ("litellm is not installed: `make bench` sets it up",)
    router_ms, bare_ms = (min(each) for each in zip(*theirs, strict=True))
    return (
        first,
        faster(
            "overhead per call, median (ms)",
            added,
            router_ms - bare_ms,
            "litellm Router",
            at_least=1.0,
        ),
        faster("a whole call, median (ms)", gate_ms, router_ms, "litellm Router", at_least=None),
    ), (
        f"litellm: {router_ms:.2f} ms through the Router, {bare_ms:.2f} ms without;"
        f" ours: {gate_ms:.3f} ms through the queue, {direct_ms:.3f} ms without",
    )


async def _ours(calls: int) -> tuple[float, float]:
    provider = Steady(0.0)
    gate: Gate = _queue(provider)
    direct: Gate = DirectGate({"script": provider})
    asked = _request("Who has the key?", 1)
    await _median_ms(lambda: gate.complete(asked), 50)
    return (
        await _median_ms(lambda: gate.complete(asked), calls),
        await _median_ms(lambda: direct.complete(asked), calls),
    )


async def _median_ms(call: Callable[[], Awaitable[object]], times: int) -> float:
    took: list[float] = []
    for _ in range(times):
        started = time.perf_counter()
        await call()
        took.append((time.perf_counter() - started) * 1000)
    return statistics.median(took)


@contextmanager
def _litellm() -> Iterator[Callable[[int], tuple[float, float]] | None]:
    """Start litellm beside us; yield how to ask it, or None where it is not installed."""
    if not LITELLM.exists():
        yield None
        return
    command = [str(LITELLM), str(PEER)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as peer:
        assert peer.stdin is not None
        assert peer.stdout is not None

        def ask(calls: int) -> tuple[float, float]:
            print(calls, file=peer.stdin, flush=True)
            told = json.loads(peer.stdout.readline())  # type: ignore[union-attr]
            return told["router_ms"], told["bare_ms"]

        ask(20)
        yield ask
        with suppress(BrokenPipeError):
            peer.stdin.close()


def _queue(provider: Steady) -> QueueGate:
    limits = QueueLimits(global_limit=SLOTS, provider_limit=SLOTS)
    return QueueGate(DirectGate({"script": provider}), limits, limiter=Limiter())


def _request(text: str, number: int, priority: int = 0) -> ModelRequest:
    messages = (Message("user", text),)
    return ModelRequest("script", messages, session_id=f"sess_{number % 50}", priority=priority)
