"""Events as server-sent events: stored ones in order, resumable by `Last-Event-ID`.

What is only shown while it happens (parts of a reply, steps of a turn) comes along without a
number: who comes back later does not see it again. A caller that goes away ends the stream; one
that only listens is kept by a comment now and then.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from dataclasses import dataclass
from typing import Any, Final

from fastapi import Request
from fastapi.responses import StreamingResponse

from callboard.core.canonical import compact_json
from callboard.core.events import Event
from callboard.core.run_events import RunChanged
from callboard.core.vocabulary import TERMINAL_STATES
from callboard.studio.privacy import Viewer
from callboard.studio.studio import Studio

STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "Events, one after the other, until there can be no more.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}
"""What an operation that streams answers, for the OpenAPI document."""

_OVER: Final = frozenset(state.value for state in TERMINAL_STATES)
_MAX_DIGITS: Final = 18
_MOST_WAITING: Final = 1000
_KEEP_ALIVE_SECONDS: Final = 15.0
_KEEP_ALIVE: Final = ": still here\n\n"


def resume_point(request: Request, after: int) -> int:
    """Return the last event a caller has seen: what its browser remembers, or what it says."""
    told = request.headers.get("last-event-id", "")
    is_number = told.isascii() and told.isdecimal() and len(told) <= _MAX_DIGITS
    return int(told) if is_number else after


@dataclass(frozen=True, slots=True)
class _Stream:
    """What is streamed: the stored events, which of those only shown, and where it ends."""

    stored: AsyncIterator[Event]
    concerns: Callable[[Event], bool]
    is_last: Callable[[Event], bool]


def stream_run(studio: Studio, run_id: str, after: int) -> StreamingResponse:
    """Answer with what happens to a run until it is over."""
    run = studio.engine.load(run_id)
    stored = studio.engine.events(run_id=run.id, after=after)
    return _answer(studio, _Stream(stored, lambda event: event.run_id == run.id, _is_over))


def stream_project(
    studio: Studio, viewer: Viewer, session_id: str | None, after: int
) -> StreamingResponse:
    """Answer with what the caller may see of a project or a session, until they go away."""
    session = studio.sessions.get(session_id).id if session_id is not None else None

    def concerns(event: Event) -> bool:
        theirs = event.session_id
        if theirs is None or session not in (None, theirs):
            return session is None
        return studio.database.read(lambda connection: viewer.sees(connection, theirs))

    async def shown() -> AsyncIterator[Event]:
        async for event in studio.engine.events(session_id=session, after=after):
            if concerns(event):
                yield event

    return _answer(studio, _Stream(shown(), concerns, lambda _event: False))


def _is_over(event: Event) -> bool:
    return isinstance(event.body, RunChanged) and event.body.state in _OVER


def _answer(studio: Studio, stream: _Stream) -> StreamingResponse:
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    lines = _lines(studio, stream)
    return StreamingResponse(lines, media_type="text/event-stream", headers=headers)


async def _lines(studio: Studio, stream: _Stream) -> AsyncGenerator[str]:
    with _gathering(studio, stream) as (events, gathering):
        while True:
            upcoming = asyncio.ensure_future(events.get())
            try:
                while not upcoming.done():
                    await asyncio.wait(
                        {upcoming, gathering},
                        timeout=_KEEP_ALIVE_SECONDS,
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                    if gathering.done():
                        gathering.result()
                    if not upcoming.done():
                        yield _KEEP_ALIVE
                event = upcoming.result()
            finally:
                upcoming.cancel()
            data = compact_json(event.to_json())
            # What is not stored cannot be resumed from, so it has no number.
            number = f"id: {event.seq}\n" if event.seq else ""
            yield f"{number}event: {event.type}\ndata: {data}\n\n"
            if stream.is_last(event):
                return


@contextlib.contextmanager
def _gathering(
    studio: Studio, stream: _Stream
) -> Generator[tuple[asyncio.Queue[Event], asyncio.Task[None]]]:
    """Gather stored and live events; a caller too slow for the live ones gets the stored alone."""
    events: asyncio.Queue[Event] = asyncio.Queue(_MOST_WAITING)

    def take(event: Event) -> None:
        if stream.concerns(event):
            with contextlib.suppress(asyncio.QueueFull):
                events.put_nowait(event)

    async def bring() -> None:
        async for event in stream.stored:
            await events.put(event)

    listeners = studio.backstage.live_listeners
    listeners.append(take)
    gathering = asyncio.create_task(bring())
    try:
        yield events, gathering
    finally:
        listeners.remove(take)
        gathering.cancel()
