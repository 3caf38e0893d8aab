"""Events as server-sent events: stored ones in order, resumable by `Last-Event-ID`.

A caller that goes away ends the stream; one that only listens is kept by a comment now and then.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Final

from fastapi import Request
from fastapi.responses import StreamingResponse

from callboard.core.canonical import compact_json
from callboard.core.events import Event, RunChanged
from callboard.core.vocabulary import TERMINAL_STATES
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
_KEEP_ALIVE_SECONDS: Final = 15.0
_KEEP_ALIVE: Final = ": still here\n\n"


def resume_point(request: Request, after: int) -> int:
    """Return the last event a caller has seen: what its browser remembers, or what it says."""
    told = request.headers.get("last-event-id", "")
    is_number = told.isascii() and told.isdecimal() and len(told) <= _MAX_DIGITS
    return int(told) if is_number else after


def stream_run(studio: Studio, run_id: str, after: int) -> StreamingResponse:
    """Answer with what happens to a run until it is over."""
    run = studio.engine.load(run_id)
    return _answer(_until_over(studio.engine.events(run_id=run.id, after=after)))


def stream_project(studio: Studio, session_id: str | None, after: int) -> StreamingResponse:
    """Answer with what happens in a project or a session, until the caller goes away."""
    session = studio.sessions.get(session_id).id if session_id is not None else None
    return _answer(studio.engine.events(session_id=session, after=after))


async def _until_over(events: AsyncIterator[Event]) -> AsyncGenerator[Event]:
    async for event in events:
        yield event
        if isinstance(event.body, RunChanged) and event.body.state in _OVER:
            return


def _answer(events: AsyncIterator[Event]) -> StreamingResponse:
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(_lines(events), media_type="text/event-stream", headers=headers)


async def _lines(events: AsyncIterator[Event]) -> AsyncGenerator[str]:
    upcoming: asyncio.Future[Event] | None = None
    try:
        while True:
            upcoming = asyncio.ensure_future(anext(events))
            while not (await asyncio.wait({upcoming}, timeout=_KEEP_ALIVE_SECONDS))[0]:
                yield _KEEP_ALIVE
            try:
                event = upcoming.result()
            except StopAsyncIteration:
                return
            data = compact_json(event.to_json())
            yield f"id: {event.seq}\nevent: {event.type}\ndata: {data}\n\n"
    finally:
        if upcoming is not None:
            upcoming.cancel()
