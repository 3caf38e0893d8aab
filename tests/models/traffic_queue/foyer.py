"""What the tests of the queue share: time turned by hand, a provider that obeys commands."""

import asyncio
import heapq
from collections.abc import AsyncGenerator, Callable, Mapping
from itertools import count
from typing import Any

from callboard.core.errors import ProviderError
from callboard.core.events import EventBody
from callboard.models import (
    Chunk,
    DirectGate,
    Ended,
    Finished,
    Gate,
    Message,
    ModelRequest,
    ProviderChunk,
    TextChunk,
    Usage,
)
from callboard.models.traffic.limit_state import Cancel


class HandTime:
    """A clock and its timers; time passes only in `advance`."""

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self.wall_ms = float(now_ms)
        self.seconds = 100.0
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._cancelled: set[int] = set()
        self._numbers = count()

    def now_ms(self) -> int:
        return round(self.wall_ms)

    def monotonic(self) -> float:
        return self.seconds

    def after(self, seconds: float, action: Callable[[], None]) -> Cancel:
        number = next(self._numbers)
        heapq.heappush(self._timers, (self.seconds + seconds, number, action))
        return lambda: self._cancelled.add(number)

    @property
    def armed(self) -> int:
        """How many timers are set."""
        return sum(number not in self._cancelled for _, number, _ in self._timers)

    def advance(self, seconds: float) -> None:
        """Let time pass; timers that fall due fire on the way."""
        end = self.seconds + seconds
        while self._timers and self._timers[0][0] <= end:
            due, number, action = heapq.heappop(self._timers)
            self._pass(max(0.0, due - self.seconds))
            if number not in self._cancelled:
                action()
        self._pass(max(0.0, end - self.seconds))

    def _pass(self, seconds: float) -> None:
        self.seconds += seconds
        self.wall_ms += seconds * 1000


class Notices:
    """Remembers what was told."""

    def __init__(self) -> None:
        self.told: list[tuple[EventBody, ModelRequest | None]] = []

    def __call__(self, body: EventBody, request: ModelRequest | None) -> None:
        self.told.append((body, request))

    def of(self, kind: type[Any]) -> list[Any]:
        return [body for body, _ in self.told if isinstance(body, kind)]


class Prompter:
    """A provider whose calls say a first word and then wait to be told how to end.

    A call is named by its prompt. `started` lists the names in the order they began, a name again
    for each attempt; `open` those under way.
    """

    constrains_json = False

    def __init__(self, first: str = "Once ") -> None:
        self.first = first
        self.started: list[str] = []
        self.open: dict[str, asyncio.Future[None]] = {}
        self.closed: list[str] = []
        self.most_open = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
        name = request.prompt_text
        assert name not in self.open, f"{name} runs twice at the same time"
        self.started.append(name)
        ending = self.open[name] = asyncio.get_running_loop().create_future()
        self.most_open = max(self.most_open, len(self.open))
        try:
            if self.first:
                yield TextChunk(self.first)
            await ending
            yield TextChunk(f"upon {name}")
            yield Ended(request.model, Usage(1, 2))
        finally:
            del self.open[name]
            self.closed.append(name)

    def finish(self, *names: str) -> None:
        for name in names:
            self.open[name].set_result(None)

    def fail(self, name: str, status: int, headers: Mapping[str, str] | None = None) -> None:
        error = ProviderError(f"HTTP {status}", status=status, headers=dict(headers or {}))
        self.open[name].set_exception(error)

    async def close(self) -> None:
        for ending in self.open.values():
            ending.cancel()


class Readers:
    """Tasks that read streams to their end, by the name of the call."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.tasks: dict[str, asyncio.Task[str]] = {}
        self.chunks: dict[str, list[Chunk]] = {}

    def ask(self, name: str, **more: Any) -> None:
        self.chunks[name] = []
        self.tasks[name] = asyncio.create_task(self._read(name, request(name, **more)))

    async def cancel(self, name: str) -> None:
        self.tasks[name].cancel()
        await asyncio.wait([self.tasks[name]])

    async def _read(self, name: str, asked: ModelRequest) -> str:
        async for chunk in self.gate.stream(asked):
            self.chunks[name].append(chunk)
            if isinstance(chunk, Finished):
                return chunk.reply.text
        raise AssertionError("a stream without end")


def request(name: str, model: str = "script", **more: Any) -> ModelRequest:
    return ModelRequest(model, (Message("user", name),), **more)


def direct(provider: Any, *names: str) -> DirectGate:
    return DirectGate(dict.fromkeys(names or ("script",), provider))


async def until(is_true: Callable[[], bool]) -> None:
    """Let the event loop turn until something holds."""
    for _ in range(10_000):
        if is_true():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came true")


async def quiet() -> None:
    """Let everything happen that can happen now."""
    for _ in range(30):
        await asyncio.sleep(0)
