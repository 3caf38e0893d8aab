"""Changes: wakes whoever waits for the database to change, by this process or another."""

import asyncio
import contextlib
import threading
from typing import Final

from callboard.store.database import Database

_POLL_SECONDS: Final = 0.1


class Changes:
    """Turns commits into wake-ups. Commits of other processes are noticed at the next poll."""

    def __init__(self, database: Database) -> None:
        """Listen to a database."""
        self._database = database
        self._waiting: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}
        self._guard = threading.Lock()
        database.on_commit(self._notify)

    async def next(self) -> None:
        """Return after the next commit of this process, or after a tenth of a second."""
        event = asyncio.Event()
        with self._guard:
            self._waiting[event] = asyncio.get_running_loop()
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_POLL_SECONDS):
                    await event.wait()
        finally:
            with self._guard:
                self._waiting.pop(event, None)

    def _notify(self) -> None:
        if not self._waiting:
            return
        with self._guard:
            waiting, self._waiting = self._waiting, {}
        for event, loop in waiting.items():
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(event.set)
