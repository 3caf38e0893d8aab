"""The one writer: units of work from many tasks share a transaction and its fsync.

A unit handed in is committed even if the task that waits for it is cancelled. A unit may be run
twice (when another unit of its batch fails, the batch is rolled back and repeated one by one), so
it must touch nothing but its connection.
"""

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from callboard.store.backlog import Backlog, current
from callboard.store.connection import Connection
from callboard.store.faults import FaultPoints
from callboard.store.ledger.book import Ledger
from callboard.store.line import WritersLine

T = TypeVar("T")
Work = Callable[[Connection], T]

_log = logging.getLogger(__name__)

# A lone write is committed by the event loop itself, sparing two thread switches, as long as the
# disk has lately been this fast; a slower disk must never stall the loop.
_INLINE_LIMIT_SECONDS: Final = 0.002
_SMOOTHING: Final = 0.2
# With notes beside it a lone write is still one; with very many it is a batch for the thread.
_FEW: Final = 8
# So long a note waits for another commit to join, and what a run does not wait for.
_NOTE_SECONDS: Final = 0.02
_EARLY_SECONDS: Final = 0.004
# So much that nobody waits for makes a commit of its own.
_MANY: Final = 32


Statement = tuple[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Rows:
    """A unit of inserts without logic: the batch executes those of one statement together.

    Each statement must insert its row; one that inserts nothing fails the unit.
    """

    statements: tuple[Statement, ...]


class RowRefused(Exception):
    """A row of a unit was not inserted."""


@dataclass(slots=True)
class _Unit:
    work: Work[Any] | Rows
    future: "_Waiter"
    loop: asyncio.AbstractEventLoop | None
    # What it belongs to: if something of that failed that was handed in before, it is not stored.
    backlog: Backlog | None = None

    @property
    def is_early(self) -> bool:
        """Whether its run goes on before it is stored."""
        return self.backlog is not None and self.future is self.backlog

    @property
    def failure(self) -> Exception | None:
        """Why something it came after could not be stored, if so; then it is not stored either."""
        return None if self.backlog is None else self.backlog.failure


_Waiter = asyncio.Future[Any] | Future[Any] | Backlog | None
"""Who waits for a unit: nobody for a note, the backlog for what a run goes on without."""
_Outcome = tuple[_Waiter, Any, BaseException | None]


class Writer:
    """Owns the only connection that writes."""

    def __init__(
        self,
        line: WritersLine,
        faults: FaultPoints,
        on_commit: Callable[[], None],
        ledger: Ledger | None = None,
    ) -> None:
        """Start the thread; `on_commit` runs on the committing thread."""
        self._line = line
        self._faults = faults
        self._on_commit = on_commit
        self._ledger = ledger
        # Held by whichever thread is using the connection.
        self._turn = threading.Lock()
        # Filled by any thread, emptied by whoever holds the turn.
        self._pending: list[_Unit] = []
        self._guard = threading.Lock()
        # The loop that will flush at its next turn; another loop, or none, must ask for itself.
        self._flush_loop: asyncio.AbstractEventLoop | None = None
        # The loop that will look after notes that nothing came to join, and after early units.
        self._note_loop: asyncio.AbstractEventLoop | None = None
        self._early_loop: asyncio.AbstractEventLoop | None = None
        self._early = 0
        self._wake: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._commit_seconds = 0.0
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="callboard-writer", daemon=True)
        self._thread.start()

    async def write(self, work: Work[T] | Rows, backlog: Backlog | None = None) -> T:
        """Run a unit in the next commit and return its result once that is durable."""
        return await self._join_next_commit(work, backlog)

    def enqueue(self, work: Work[T]) -> "asyncio.Future[T]":
        """Hand in a unit for the next commit at once; the future is done when that is durable."""
        return self._join_next_commit(work)

    def hand_in(self, work: Work[Any] | Rows, backlog: Backlog) -> None:
        """Hand in a unit that its backlog hears of; soon durable, or when `hasten` is called."""
        loop = asyncio.get_running_loop()
        self._hand_in(_Unit(work, backlog, loop, backlog))
        self._early += 1
        if self._early >= _MANY:
            self._early = 0
            self._wake.put(True)
        elif self._early_loop is not loop:
            self._early_loop = loop
            loop.call_later(_EARLY_SECONDS, self._flush_early, loop)

    def hasten(self) -> None:
        """Commit what was handed in as soon as every task that is ready has joined."""
        loop = asyncio.get_running_loop()
        if self._flush_loop is not loop:
            self._flush_loop = loop
            loop.call_soon(self._flush, loop)

    def flush(self) -> None:
        """Commit what was handed in before this returns, on this thread."""
        self._drain()

    def note(self, work: Work[Any]) -> None:
        """Hand in a unit nobody waits for: it joins the next commit, or soon gets its own."""
        loop = asyncio.get_running_loop()
        self._hand_in(_Unit(work, None, loop, current()))
        if self._note_loop is not loop:
            self._note_loop = loop
            loop.call_later(_NOTE_SECONDS, self._flush_notes, loop)

    def _join_next_commit(
        self, work: Work[T] | Rows, backlog: Backlog | None = None
    ) -> "asyncio.Future[T]":
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._hand_in(_Unit(work, future, loop, backlog))
        # Waiting one turn of the loop lets every task that is ready join the same commit.
        self.hasten()
        return future

    def submit(self, work: Work[T]) -> "Future[T]":
        """Hand in a unit from a thread without an event loop."""
        future: Future[T] = Future()
        self._hand_in(_Unit(work, future, None))
        self._wake.put(True)
        return future

    def close(self) -> None:
        """Commit what was handed in, then stop the thread and close the connection."""
        with self._guard:
            self._closed = True
        self._wake.put(False)
        self._thread.join()
        self._drain()
        self._line.close()
        if self._ledger is not None:
            self._ledger.close()

    def _hand_in(self, unit: _Unit) -> None:
        with self._guard:
            if self._closed:
                raise RuntimeError("the database is closed")
            self._pending.append(unit)

    def _take(self) -> list[_Unit]:
        with self._guard:
            units, self._pending = self._pending, []
            return units

    def _flush_notes(self, loop: asyncio.AbstractEventLoop) -> None:
        self._note_loop = None
        if self._pending and not self._closed:
            self._flush(loop)

    def _flush_early(self, loop: asyncio.AbstractEventLoop) -> None:
        self._early_loop = None
        if self._pending and not self._closed:
            self._wake.put(True)

    def _flush(self, loop: asyncio.AbstractEventLoop) -> None:
        self._flush_loop = None
        if self._pending and not self._commit_here(loop):
            self._wake.put(True)

    def _commit_here(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Commit a lone write on the event loop if that is quick; say whether it was done."""
        if not self._is_lone() or self._commit_seconds >= _INLINE_LIMIT_SECONDS:
            return False
        if not self._turn.acquire(blocking=False):
            return False
        try:
            if not self._line.begin(patient=False):
                return False
            self._commit(self._take(), loop, begun=True)
            return True
        finally:
            self._turn.release()

    def _is_lone(self) -> bool:
        with self._guard:
            if len(self._pending) > _FEW:
                return False
            waited_for = (unit.future is not None for unit in self._pending if not unit.is_early)
            return sum(waited_for) <= 1

    def _serve(self) -> None:
        while self._wake.get():
            self._drain()

    def _drain(self) -> None:
        with self._turn:
            self._early = 0
            while units := self._take():
                self._commit(units)

    def _commit(
        self,
        units: list[_Unit],
        here: asyncio.AbstractEventLoop | None = None,
        *,
        begun: bool = False,
        again: bool = False,
    ) -> None:
        outcomes: list[_Outcome] = []
        refused = [unit for unit in units if unit.failure is not None]
        if refused:
            units = [unit for unit in units if unit.failure is None]
            self._deliver(refused, [(each.future, None, each.failure) for each in refused], here)
            if not units and not begun:
                return
        try:
            outcomes = self._transact(units, begun)
        except Exception as error:  # noqa: BLE001 - every failure is handed to its waiter
            is_lost = self._line.is_lost(error)
            if is_lost and not again:
                self._commit(units, here, again=True)
            elif len(units) == 1 or is_lost or self._line.is_busy(error):
                # If nobody's turn came, to wait again for each of them would help nobody.
                outcomes = _failed(units, self._explain(error))
            else:
                for unit in units:
                    self._commit([unit], here)
        if outcomes:
            self._deliver(units, outcomes, here)
            self._on_commit()

    def _transact(self, units: list[_Unit], begun: bool) -> list[_Outcome]:
        if not begun:
            self._line.begin(patient=True)
        started = time.perf_counter()
        try:
            self._line.check()
            outcomes = _execute(self._line.connection, units)
            if self._ledger is not None:
                self._ledger.append()
            self._faults.reach("store.before_commit")
            self._line.commit()
        except BaseException:
            self._line.rollback()
            if self._ledger is not None:
                self._ledger.undone()
            raise
        elapsed = time.perf_counter() - started
        self._commit_seconds += _SMOOTHING * (elapsed - self._commit_seconds)
        self._faults.reach("store.after_commit")
        if self._ledger is not None:
            self._ledger.committed()
        return outcomes

    def _explain(self, error: Exception) -> Exception:
        if isinstance(error, StopIteration):
            # No future takes one.
            broken = RuntimeError("a unit of work raised StopIteration")
            broken.__cause__ = error
            return broken
        return self._line.explain(error)

    def _deliver(
        self,
        units: list[_Unit],
        outcomes: list[_Outcome],
        here: asyncio.AbstractEventLoop | None,
    ) -> None:
        by_loop: dict[asyncio.AbstractEventLoop | None, list[_Outcome]] = {}
        for unit, outcome in zip(units, outcomes, strict=True):
            by_loop.setdefault(unit.loop, []).append(outcome)
        for loop, group in by_loop.items():
            if loop is None or loop is here:
                _resolve(group)
                continue
            try:
                loop.call_soon_threadsafe(_resolve, group)
            except RuntimeError:
                _log.debug("committed for an event loop that is already closed")


def _failed(units: list[_Unit], error: Exception) -> list[_Outcome]:
    for unit in units:
        if unit.backlog is not None and unit.is_early and unit.backlog.failure is None:
            # At once, on this thread: what its run handed in later may be next.
            unit.backlog.failure = error
    return [(unit.future, None, error) for unit in units]


def _execute(connection: Connection, units: list[_Unit]) -> list[_Outcome]:
    """Execute units in the order in which they were handed in; rows that follow each other at once.

    Rows of one statement are inserted together, so that a step's row may come before the event of
    a step handed in earlier: an order between tables that nobody can see.
    """
    outcomes: list[_Outcome] = []
    together: dict[str, list[tuple[Any, ...]]] = {}
    for unit in units:
        work = unit.work
        if isinstance(work, Rows):
            for sql, values in work.statements:
                together.setdefault(sql, []).append(values)
            outcomes.append((unit.future, None, None))
        else:
            _insert(connection, together)
            outcomes.append((unit.future, work(connection), None))
    _insert(connection, together)
    return outcomes


def _insert(connection: Connection, together: dict[str, list[tuple[Any, ...]]]) -> None:
    for sql, rows in together.items():
        if connection.executemany(sql, rows).rowcount != len(rows):
            raise RowRefused
    together.clear()


def _resolve(outcomes: list[_Outcome]) -> None:
    for future, value, error in outcomes:
        if future is None:
            if error is not None:
                _log.warning("a note was not stored: %s", error)
            continue
        if future.done():
            continue
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)
