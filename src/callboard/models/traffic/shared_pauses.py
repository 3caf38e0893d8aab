"""Pauses in the store: how processes tell each other that a credential is paused.

Written without waiting, read without failing.

A project whose store cannot be reached still limits itself; only the other processes do not hear
of it, and that is logged.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from callboard.store.connection import Connection, StoreError
from callboard.store.database import Database

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PauseRow:
    """The latest pause of a credential; `resumed_at` is empty until somebody told its end.

    `attempt` counts the pauses since the last success, which sets it to zero.
    """

    credential: str
    attempt: int
    paused_at: int
    resume_at: int
    reason: str
    resumed_at: int | None = None


def load_pauses(connection: Connection) -> list[PauseRow]:
    """Return the latest pause of every credential that ever had one."""
    rows = connection.execute("SELECT * FROM limiter_states")
    return [_pause(row) for row in rows]


def begin_pause(connection: Connection, pause: PauseRow) -> tuple[bool, PauseRow]:
    """Store a pause, or prolong the one in force; say whether it is new, and what is stored."""
    row = connection.execute(
        "SELECT * FROM limiter_states WHERE credential = :credential",
        {"credential": pause.credential},
    ).fetchone()
    known = None if row is None else _pause(row)
    is_new = known is None or known.resumed_at is not None or known.resume_at <= pause.paused_at
    if known is not None and not is_new:
        pause = PauseRow(
            known.credential,
            known.attempt,
            known.paused_at,
            max(known.resume_at, pause.resume_at),
            known.reason,
        )
    connection.execute(
        "INSERT INTO limiter_states"
        " (credential, attempt, paused_at, resume_at, reason, resumed_at)"
        " VALUES (:credential, :attempt, :paused_at, :resume_at, :reason, NULL)"
        " ON CONFLICT (credential) DO UPDATE SET attempt = :attempt, paused_at = :paused_at,"
        " resume_at = :resume_at, reason = :reason, resumed_at = NULL",
        {
            "credential": pause.credential,
            "attempt": pause.attempt,
            "paused_at": pause.paused_at,
            "resume_at": pause.resume_at,
            "reason": pause.reason,
        },
    )
    return is_new, pause


def end_pause(connection: Connection, credential: str, paused_at: int, now: int) -> bool:
    """Mark a pause as over; only one of all processes hears yes, and that one tells it."""
    cursor = connection.execute(
        "UPDATE limiter_states SET resumed_at = :now"
        " WHERE credential = :credential AND paused_at <= :paused_at AND resumed_at IS NULL",
        {"credential": credential, "paused_at": paused_at, "now": now},
    )
    return cursor.rowcount == 1


def clear_attempts(connection: Connection, credential: str, paused_at: int) -> None:
    """Forget the pauses before a success, unless a newer one has begun."""
    connection.execute(
        "UPDATE limiter_states SET attempt = 0"
        " WHERE credential = :credential AND paused_at <= :paused_at",
        {"credential": credential, "paused_at": paused_at},
    )


def _pause(row: Any) -> PauseRow:
    return PauseRow(
        row["credential"],
        row["attempt"],
        row["paused_at"],
        row["resume_at"],
        row["reason"],
        row["resumed_at"],
    )


T = TypeVar("T")


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
