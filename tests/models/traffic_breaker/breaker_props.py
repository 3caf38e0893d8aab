"""Time moved by hand, notices kept for reading, and short ways to ask."""

from dataclasses import dataclass, field
from typing import Any, TypeVar

from callboard.core.events import EventBody
from callboard.models import Chunk, Finished, Gate, Message, ModelRequest, TextChunk

T = TypeVar("T")


@dataclass
class HandClock:
    """Stands still until it is moved; waiting moves it."""

    seconds: float = 1_000_000.0
    waits: list[float] = field(default_factory=list)

    def now_ms(self) -> int:
        return round(self.seconds * 1000)

    def monotonic(self) -> float:
        return self.seconds

    def advance(self, seconds: float) -> None:
        self.seconds += seconds

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.seconds += seconds


@dataclass
class Notices:
    """Keeps every event a gate tells, with the request it is about."""

    told: list[tuple[EventBody, ModelRequest | None]] = field(default_factory=list)

    def __call__(self, body: EventBody, request: ModelRequest | None) -> None:
        self.told.append((body, request))

    def of(self, kind: type[T]) -> list[T]:
        return [body for body, _ in self.told if isinstance(body, kind)]


def ask(model: str = "script", **more: Any) -> ModelRequest:
    return ModelRequest(model, (Message("user", "How is the sea?"),), **more)


async def chunks_of(gate: Gate, request: ModelRequest) -> list[Chunk]:
    return [chunk async for chunk in gate.stream(request)]


def texts(chunks: list[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks if isinstance(chunk, TextChunk)]


def last_reply(chunks: list[Chunk]) -> Any:
    last = chunks[-1]
    assert isinstance(last, Finished)
    return last.reply
