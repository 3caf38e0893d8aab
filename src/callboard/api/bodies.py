"""What requests may bring: so many bytes and entries, within so much time, so many at a time.

A body is refused by what it says of its length before any of it is read, and by what comes while
it is read. What is let in is whole: no route waits for the rest of one.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from callboard.api.failure import error_body
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds for each thing a client may be slow at."""

    # From the first byte of a request, or from the opening of its connection, to the end of its
    # headers, however they trickle in.
    head_seconds: float = 20.0
    # For a body of no length; a longer one has more, by the slowest rate that is put up with.
    body_seconds: float = 20.0
    slowest_bytes_a_second: int = 50_000
    # For what is left of a body that was answered without being read.
    rest_seconds: float = 5.0
    # Until a client takes more of its answer.
    taking_seconds: float = 60.0
    # For another request on the same connection. Longer than clients wait, so that it is they who
    # close it: where the server does, a request that is under way at that moment is lost.
    keep_alive_seconds: int = 75

    def for_body(self, length: int) -> float:
        """Return how long a body of so many bytes may take."""
        return self.body_seconds + length / self.slowest_bytes_a_second


PATIENCE = Patience()


DEFAULT_BYTES: Final = 1_000_000
FILE_TYPE: Final = "application/octet-stream"
MOST_ENTRIES: Final = 20_000
"""Lists and objects cost far more than text of their length; reading them holds everything up."""
_ENTRY_MARKS: Final = (b",", b"[", b"{")
_MOST_QUOTES: Final = 4 * MOST_ENTRIES


class BodyRefused(CallboardError):
    """A body that is not let in."""

    status: ClassVar[int] = 413


class BodyTooLarge(BodyRefused):
    """There is more of it than the route takes."""

    code = "body_too_large"


class BodyTooSlow(BodyRefused):
    """It did not come to its end in time."""

    code = "body_too_slow"
    status = 408


class ClientGone(Exception):
    """The client left before its request was whole."""


class Bodies:
    """Reads a request to its end before it goes on, within the limits of its route."""

    def __init__(
        self,
        app: ASGIApp,
        patience: Patience = PATIENCE,
        larger: Sequence[tuple[re.Pattern[str], int]] = (),
    ) -> None:
        """Take what lies behind, how long a body may take, and the paths that take more."""
        self._app = app
        self._patience = patience
        self._larger = larger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on with its whole body, or say why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            most = self.most_bytes(scope["path"])
            body = await _gather(scope, receive, self._patience, most)
        except ClientGone:
            return
        except BodyRefused as refused:
            details: dict[str, Json] = {**refused.context, "fix": refused.fix}
            told = error_body(refused.code, refused.message, details)
            await JSONResponse(told, refused.status)(scope, receive, send)
            return
        await self._app(scope, _again(body, receive), send)

    def most_bytes(self, path: str) -> int:
        """Return how long a body may be that is sent to a path."""
        return next((most for route, most in self._larger if route.fullmatch(path)), DEFAULT_BYTES)


async def _gather(scope: Scope, receive: Receive, patience: Patience, most: int) -> bytes:
    path: str = scope["path"]
    headers = Headers(scope=scope)
    told = headers.get("content-length", "")
    expected = int(told) if told.isascii() and told.isdecimal() else None
    if expected is not None and expected > most:
        raise _too_large(path, f"{expected} bytes", most)
    seconds = patience.for_body(most if expected is None else expected)
    try:
        async with asyncio.timeout(seconds):
            body = await _read(path, receive, most)
    except TimeoutError:
        raise BodyTooSlow(
            f"The body of this request to {path} did not come within {seconds:.0f} seconds",
            fix="Send it again, on a connection that does not stall.",
            limit_seconds=round(seconds),
        ) from None
    # A file is never read as lists and objects, whatever bytes are in it.
    is_file = headers.get("content-type", "").strip().lower() == FILE_TYPE
    if path.startswith("/api/") and not is_file and _has_too_many_entries(body):
        raise BodyTooLarge(
            f"The body of this request to {path} has more than {MOST_ENTRIES} entries",
            fix=f"Send at most {MOST_ENTRIES} entries of lists and objects at once.",
            limit_entries=MOST_ENTRIES,
        )
    return body


async def _read(path: str, receive: Receive, most: int) -> bytes:
    parts: list[bytes] = []
    length = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        part: bytes = message.get("body", b"")
        length += len(part)
        if length > most:
            raise _too_large(path, f"more than {most} bytes", most)
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def _has_too_many_entries(body: bytes) -> bool:
    if sum(body.count(mark) for mark in _ENTRY_MARKS) <= MOST_ENTRIES:
        return False
    # What stands between quotes is text; a quote within a text is escaped.
    pieces = body.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"', _MOST_QUOTES)
    outside = b"".join(pieces[::2])
    is_cut = len(pieces) > _MOST_QUOTES
    return is_cut or sum(outside.count(mark) for mark in _ENTRY_MARKS) > MOST_ENTRIES


def _too_large(path: str, length: str, most: int) -> BodyTooLarge:
    return BodyTooLarge(
        f"The body of this request to {path} is {length} long; the limit is {most} bytes",
        fix=f"Send at most {most} bytes at once.",
        limit_bytes=most,
    )


def _again(body: bytes, receive: Receive) -> Receive:
    is_told = False

    async def told() -> Message:
        nonlocal is_told
        if is_told:
            return await receive()
        is_told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return told


MOST_REQUESTS: Final = 1000
_RETRY_SECONDS: Final = 2
# Whoever watches over the server must hear from it when it is busiest.
_ALWAYS: Final = "/api/health"


class Capacity:
    """Counts what is being answered, streams and sockets included."""

    def __init__(self, app: ASGIApp, most: int = MOST_REQUESTS) -> None:
        """Take what lies behind, and how many may be there at once."""
        self._app = app
        self._most = most
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in while there is room."""
        if scope["type"] not in ("http", "websocket") or scope["path"] == _ALWAYS:
            await self._app(scope, receive, send)
        elif self._inside >= self._most:
            await self._refuse(scope, receive, send)
        else:
            self._inside += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._inside -= 1

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1013})
            return
        message = f"{self._most} requests are being answered already"
        fix = f"Try again in {_RETRY_SECONDS} seconds."
        told = error_body("too_busy", message, {"fix": fix, "limit_requests": self._most})
        headers = {"Retry-After": str(_RETRY_SECONDS)}
        await JSONResponse(told, 503, headers=headers)(scope, receive, send)
