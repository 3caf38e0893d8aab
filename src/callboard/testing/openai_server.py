"""A real HTTP server on this machine that speaks OpenAI's chat protocol, well or badly.

It plays a provider on good and on bad days, so that the real provider classes can be tried over
real sockets. It understands nothing of what it is asked.
"""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from callboard.core.canonical import Json

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Writes one HTTP response."""

_PIECE_CHARS: Final = 7
# So many callers may knock at the same moment.
_BACKLOG: Final = 1024


@dataclass(frozen=True, slots=True)
class Bill:
    """The tokens a reply says it took."""

    input_tokens: int = 11
    output_tokens: int = 5
    cached_tokens: int = 3


@dataclass(slots=True)
class OpenAIServer:
    """Answers each request with the next queued answer; remembers what it was sent.

    When nothing is queued, `choose` picks the answer by the request's body, else `standing`
    answers; without both, status 599.
    """

    url: str = ""
    answers: deque[Answer] = field(default_factory=deque[Answer])
    choose: Callable[[dict[str, Json]], Answer] | None = None
    standing: Answer | None = None
    bodies: list[dict[str, Json]] = field(default_factory=list[dict[str, Json]])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    is_hanging: asyncio.Event = field(default_factory=asyncio.Event)
    was_left: asyncio.Event = field(default_factory=asyncio.Event)

    @classmethod
    @contextlib.asynccontextmanager
    async def listening(cls) -> "AsyncGenerator[OpenAIServer]":
        """Serve on a free port of this machine for as long as the context lasts."""
        server = cls()
        listener = await asyncio.start_server(server._serve, "127.0.0.1", 0, backlog=_BACKLOG)
        server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
        try:
            yield server
        finally:
            listener.close()
            await listener.wait_closed()

    def says(self, text: str, *, finish: str = "stop", usage: bool = True) -> None:
        """Queue a whole streamed reply."""
        self.answers.append(reply(text, finish=finish, usage=usage))

    def fails(self, status: int, body: str = "", **headers: str) -> None:
        """Queue an HTTP error."""
        self.answers.append(http_error(status, body, **headers))

    def says_raw(self, body: bytes, content_type: str = "text/event-stream") -> None:
        """Queue any body with status 200."""
        self.answers.append(raw(body, content_type))

    def drops_after(self, text: str) -> None:
        """Queue a reply whose connection dies after some text."""

        async def answer(writer: asyncio.StreamWriter) -> None:
            await _begin(writer, text)
            writer.transport.abort()

        self.answers.append(answer)

    def hangs_up(self) -> None:
        """Queue a connection that is closed without a word."""
        self.answers.append(hang_up())

    def ends_early(self, text: str) -> None:
        """Queue a reply that ends politely in the middle."""
        self.answers.append(half_a_reply(text))

    def hangs(self, text: str = "") -> None:
        """Queue a reply that starts and then stays silent until the client leaves."""
        self.answers.append(stalled_reply(text, self.is_hanging))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[1:-2]
            headers = dict(line.lower().split(": ", 1) for line in head)
            body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))))
            self.headers.append(headers)
            self.bodies.append(body)
            answer = asyncio.create_task(_run(self._next(body), writer))
            leaving = asyncio.create_task(reader.read())
            await asyncio.wait({answer, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                self.was_left.set()
            for task in (answer, leaving):
                task.cancel()
            await asyncio.gather(answer, leaving, return_exceptions=True)
        writer.close()

    def _next(self, body: dict[str, Json]) -> Answer:
        if self.answers:
            return self.answers.popleft()
        if self.choose is not None:
            return self.choose(body)
        return self.standing or http_error(599, '{"error": {"message": "nothing was queued"}}')


def reply(
    text: str,
    *,
    finish: str = "stop",
    usage: bool = True,
    bill: Bill | None = None,
    piece_chars: int = _PIECE_CHARS,
) -> Answer:
    """Return a whole streamed reply, with a bill unless `usage` is false."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        await _open(writer)
        for start in range(0, len(text), piece_chars):
            await _send(writer, _delta(text[start : start + piece_chars]))
        await _send(writer, _delta(None, finish))
        if usage:
            await _send(writer, _usage(bill or Bill()))
        await _write(writer, b"data: [DONE]\n\n")
        writer.write(b"0\r\n\r\n")

    return answer


def http_error(status: int, body: str = "", **headers: str) -> Answer:
    """Return an HTTP error; an underscore in a header's name stands for a hyphen."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    async def answer(writer: asyncio.StreamWriter) -> None:
        _head(writer, status, {"Content-Type": "application/json", **named}, body.encode())

    return answer


def raw(body: bytes, content_type: str = "text/event-stream") -> Answer:
    """Return any body with status 200."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        _head(writer, 200, {"Content-Type": content_type}, body)

    return answer


def hang_up() -> Answer:
    """Return a connection that is closed without a word."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    return answer


def half_a_reply(text: str, *, is_polite: bool = True) -> Answer:
    """Return a reply that ends in the middle: with a proper last chunk, or without one."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        await _begin(writer, text)
        if is_polite:
            writer.write(b"0\r\n\r\n")

    return answer


def stalled_reply(text: str = "", is_hanging: asyncio.Event | None = None) -> Answer:
    """Return a reply that starts and then stays silent until the client leaves."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        await _begin(writer, text)
        if is_hanging is not None:
            is_hanging.set()
        await asyncio.Event().wait()

    return answer


async def _run(answer: Answer, writer: asyncio.StreamWriter) -> None:
    await answer(writer)
    await writer.drain()


def _head(writer: asyncio.StreamWriter, status: int, headers: dict[str, str], body: bytes) -> None:
    lines = [f"HTTP/1.1 {status} Whatever", "Connection: close", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


async def _open(writer: asyncio.StreamWriter) -> None:
    writer.write(
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )
    await writer.drain()


async def _begin(writer: asyncio.StreamWriter, text: str) -> None:
    await _open(writer)
    if text:
        await _send(writer, _delta(text))


async def _send(writer: asyncio.StreamWriter, event: dict[str, Json]) -> None:
    await _write(writer, b"data: " + json.dumps(event).encode() + b"\n\n")


async def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    await writer.drain()


def _event(**more: Any) -> dict[str, Json]:
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "tiny"}
    return {**base, **more}


def _delta(text: str | None, finish: str | None = None) -> dict[str, Json]:
    delta = {} if text is None else {"role": "assistant", "content": text}
    return _event(choices=[{"index": 0, "delta": delta, "finish_reason": finish}])


def _usage(bill: Bill) -> dict[str, Json]:
    counts = {
        "prompt_tokens": bill.input_tokens,
        "completion_tokens": bill.output_tokens,
        "total_tokens": bill.input_tokens + bill.output_tokens,
        "prompt_tokens_details": {"cached_tokens": bill.cached_tokens},
    }
    return _event(choices=[], usage=counts)
