"""A provider on its worst days: answers at random well or badly, and keeps its own books.

It bills what it has answered in full, and what it has read and said before it broke off. What it
refused or garbled is not billed.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from callboard.testing.openai_server import (
    Answer,
    Bill,
    OpenAIServer,
    half_a_reply,
    hang_up,
    http_error,
    raw,
    reply,
    stalled_reply,
)

HUGE_CHARS = 10_000_000
REFUSALS: dict[str, Answer] = {
    "429 with Retry-After": http_error(
        429, '{"error": {"message": "slow down"}}', retry_after="0.2"
    ),
    "429 without Retry-After": http_error(429, '{"error": {"message": "slow down"}}'),
    "500": http_error(500, '{"error": {"message": "oops"}}'),
    "garbage JSON": raw(b"data: {this is not JSON\n\n"),
    "wrong content type": raw(b"<html>The gateway is on holiday.</html>", "text/html"),
    "connection closed": hang_up(),
}
BREAKS: dict[str, Callable[[str], Answer]] = {
    "half a stream": half_a_reply,
    "half a stream, connection closed": lambda said: half_a_reply(said, is_polite=False),
    "a stalled stream": stalled_reply,
    "silence from the start": stalled_reply,
}
WEIGHTS = {
    "well": 66,
    "429 with Retry-After": 3,
    "429 without Retry-After": 3,
    "500": 6,
    "garbage JSON": 4,
    "half a stream": 5,
    "half a stream, connection closed": 5,
    "wrong content type": 4,
    "connection closed": 4,
}
# What takes long is not drawn by lot: one request in so many.
RARE = {"10 MB": 400, "a stalled stream": 97, "silence from the start": 131}
KINDS = frozenset((*WEIGHTS, *RARE))
# Of so many requests, some in a row fail: that opens the circuit.
OUTAGE_EVERY = 500
OUTAGE = range(50, 80)


def answer_to(question: str) -> str:
    """Return what the provider says to a question when it is well."""
    return f"The answer to {question} is {sum(question.encode())}."


@dataclass
class Books:
    """What the provider has counted itself."""

    requests: Counter[str] = field(default_factory=Counter)
    completed: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    """`input`, `output`, `cached` of whole replies; `broken input`, `broken output` of others."""


class BadProvider:
    """Decides how each request is answered, well until told otherwise."""

    def __init__(self, server: OpenAIServer, count: Callable[[str], int], seed: int) -> None:
        self.books = Books()
        self.is_well = True
        self._count = count
        self._dice = random.Random(seed)
        server.choose = self.choose

    @property
    def has_seen_it_all(self) -> bool:
        """Whether every kind of day has come."""
        return self.books.kinds.keys() >= KINDS

    def choose(self, body: dict[str, Any]) -> Answer:
        question = body["messages"][-1]["content"]
        self.books.requests[question] += 1
        kind = self._kind()
        self.books.kinds[kind] += 1
        return self._answer(kind, question)

    def _kind(self) -> str:
        if self.is_well:
            return "well"
        number = self.books.kinds.total()
        if number % OUTAGE_EVERY in OUTAGE:
            return "500"
        for kind, every in RARE.items():
            if number % every == every // 4:
                return kind
        return self._dice.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]

    def _answer(self, kind: str, question: str) -> Answer:
        if kind in REFUSALS:
            return REFUSALS[kind]
        if kind in ("well", "10 MB"):
            return self._whole(question, is_huge=kind == "10 MB")
        said = "" if kind == "silence from the start" else answer_to(question)[:20]
        self.books.tokens["broken input"] += self._count(question)
        self.books.tokens["broken output"] += self._count(said)
        return BREAKS[kind](said)

    def _whole(self, question: str, *, is_huge: bool) -> Answer:
        bill, text = _bill(question), answer_to(question)
        answer = reply(text, bill=bill)
        if is_huge:
            answer = reply(text.ljust(HUGE_CHARS, "~"), bill=bill, piece_chars=65_536)

        async def counted(writer: asyncio.StreamWriter) -> None:
            await answer(writer)
            await writer.drain()
            self.books.completed[question] += 1
            self.books.tokens["input"] += bill.input_tokens
            self.books.tokens["output"] += bill.output_tokens
            self.books.tokens["cached"] += bill.cached_tokens

        return counted


def _bill(question: str) -> Bill:
    number = sum(question.encode())
    return Bill(number % 17 + 5, number % 7 + 1, number % 5)
