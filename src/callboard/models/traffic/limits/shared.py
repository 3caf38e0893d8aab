"""Pauses in the store: written without waiting, read without failing.

A project whose store cannot be reached still limits itself; only the other processes do not hear
of it, and that is logged.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from callboard.models.traffic.limits.rows import (
    PauseRow,
    begin_pause,
    clear_attempts,
    end_pause,
    load_pauses,
)
from callboard.store.connection import StoreError
from callboard.store.database import Connection, Database

T = TypeVar("T")

_log = logging.getLogger(__name__)


class SharedPauses:
    """The pauses of all processes that share a project."""

    def __init__(self, database: Database) -> None:
        """Take the project's database."""
        self._database = database

    def load(self) -> list[PauseRow]:
        """Return what is stored, or nothing while the store fails."""
        try:
            return self._database.read(load_pauses)
        except StoreError as error:
            _log.warning("The pauses of other processes are unknown: %s", error)
            return []

    def begin(self, pause: PauseRow, done: Callable[[bool, PauseRow | None], None]) -> None:
        """Store a pause; tell whether it is a new one, which it counts as if storing failed."""

        def settled(stored: tuple[bool, PauseRow] | None) -> None:
            done(*(stored or (True, None)))

        self._submit(partial(begin_pause, pause=pause), settled)

    def end(self, key: str, paused_at: int, now: int, done: Callable[[bool], None]) -> None:
        """Mark a pause as over; tell whether this process is the one to say so."""
        work = partial(end_pause, credential=key, paused_at=paused_at, now=now)
        self._submit(work, lambda is_mine: done(is_mine is not False))

    def clear(self, key: str, paused_at: int) -> None:
        """Forget the attempts before a success."""
        work = partial(clear_attempts, credential=key, paused_at=paused_at)
        self._submit(work, lambda _: None)

    def _submit(self, work: Callable[[Connection], T], settled: Callable[[T | None], None]) -> None:
        """Hand work to the writer; `settled` hears its result on this loop, None if it failed."""
        try:
            handed = self._database.submit(work)
        except RuntimeError as error:
            _log.warning("A pause was not stored: %s", error)
            settled(None)
            return

        def ended(future: "asyncio.Future[T]") -> None:
            if future.cancelled():
                return
            error = future.exception()
            if error is not None:
                _log.warning("A pause was not stored: %s", error)
            settled(None if error is not None else future.result())

        asyncio.wrap_future(handed).add_done_callback(ended)
