"""Feed: stored events as they come, read once per process and handed to everybody who follows.

A follower reads by itself what was stored before it came. What is stored later it is handed, so
that a commit costs one look, however many follow other runs. One that takes its events too slowly
is not waited for: it reads again by itself.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from typing import Final

from callboard.core.events import Event
from callboard.engine.changes import Changes
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.journal.events import last_event_seq, read_events

_MOST_BEHIND: Final = 2_000


class Feed:
    """Hands the events of one database on."""

    def __init__(self, database: Database, changes: Changes) -> None:
        """Take where events are stored, and what tells of commits."""
        self._database = database
        self._changes = changes
        self._followers: set[_Follower] = set()
        self._reader: asyncio.Task[None] | None = None
        # The newest event that was handed on.
        self._seen = 0

    async def follow(
        self, *, run_id: str | None, session_id: str | None, after: int
    ) -> AsyncGenerator[Event]:
        """Yield stored events from a point on, until the caller stops."""
        follower = _Follower(run_id, session_id)
        try:
            while True:
                # From here on everything is handed over; what came before is read.
                self._join(follower)
                joined_at = self._seen
                while after < joined_at and (page := self._page(follower, after)):
                    for event in page:
                        yield event
                        after = event.seq
                after = max(after, joined_at)
                while (event := await follower.next()) is not None:
                    if event.seq > after:
                        yield event
                        after = event.seq
        finally:
            self._leave(follower)

    async def stop(self) -> None:
        """Read no more; whoever follows still hears nothing."""
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.wait({self._reader})
            self._reader = None

    def _join(self, follower: "_Follower") -> None:
        if self._reader is None or self._reader.done():
            self._seen = self._database.read(last_event_seq)
            self._reader = asyncio.create_task(self._read(), name="callboard-feed")
        follower.begin()
        self._followers.add(follower)

    def _leave(self, follower: "_Follower") -> None:
        self._followers.discard(follower)
        if not self._followers and self._reader is not None:
            self._reader.cancel()
            self._reader = None

    def _page(self, follower: "_Follower", after: int) -> list[Event]:
        def work(connection: Connection) -> list[Event]:
            return read_events(
                connection, after=after, run_id=follower.run_id, session_id=follower.session_id
            )

        return self._database.read(work)

    async def _read(self) -> None:
        try:
            while True:
                page = self._database.read(lambda c: read_events(c, after=self._seen))
                for event in page:
                    self._seen = event.seq
                    for follower in [each for each in self._followers if each.wants(event)]:
                        follower.take(event)
                if not page:
                    await self._changes.next()
        except Exception as error:  # noqa: BLE001 - the border of a task: followers are told
            for follower in self._followers:
                follower.fail(error)


class _Follower:
    """One who follows: what it wants, and what it was handed and has not taken yet."""

    def __init__(self, run_id: str | None, session_id: str | None) -> None:
        self.run_id = run_id
        self.session_id = session_id
        self._handed: deque[Event] = deque()
        self._is_lost = False
        self._error: Exception | None = None
        self._woken = asyncio.Event()

    def wants(self, event: Event) -> bool:
        return (self.run_id is None or event.run_id == self.run_id) and (
            self.session_id is None or event.session_id == self.session_id
        )

    def begin(self) -> None:
        self._handed.clear()
        self._is_lost = False

    def take(self, event: Event) -> None:
        if len(self._handed) >= _MOST_BEHIND:
            self._is_lost = True
        if not self._is_lost:
            self._handed.append(event)
        self._woken.set()

    def fail(self, error: Exception) -> None:
        self._error = error
        self._woken.set()

    async def next(self) -> Event | None:
        """Return the next event that was handed over; None if some could not be."""
        while True:
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            if self._handed:
                return self._handed.popleft()
            if self._is_lost:
                return None
            self._woken.clear()
            await self._woken.wait()
