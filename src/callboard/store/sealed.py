"""What both stores do alike: hand in to the one writer, and keep and check a ledger."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from callboard.core.clock import Clock
from callboard.store.backlog import Backlog
from callboard.store.connection import Connection
from callboard.store.faults import FaultPoints
from callboard.store.ledger.baseline import accept_rows, publish
from callboard.store.ledger.book import Gap, Head, Ledger, ends_with, open_gap, read_head
from callboard.store.ledger.cutting import cut, require_sound
from callboard.store.ledger.entries import Seal
from callboard.store.ledger.missing import MissingRows, missing_rows
from callboard.store.ledger.rows import LedgerConnection
from callboard.store.ledger.verification import LedgerReport, verify_ledger
from callboard.store.line import WritersLine
from callboard.store.writer import Rows, Work, Writer

T = TypeVar("T")


class SealedDatabase(ABC):
    """A database with one writer and, given a seal, a ledger; a store says how it is read."""

    def __init__(self, seal: Seal | None, clock: Clock) -> None:
        """Take what entries are sealed with; `_start` starts the writer."""
        self.seal = seal
        self._clock = clock
        self._listeners: list[Callable[[], None]] = []

    def _start(self, line: WritersLine, faults: FaultPoints, ledger: Ledger | None) -> None:
        self._writer = Writer(line, faults, self._committed, ledger)

    @abstractmethod
    def look(self, work: Callable[[LedgerConnection], T], /) -> T:
        """Run a reading unit on one consistent snapshot of rows and ledger."""

    @abstractmethod
    def apart(self) -> AbstractContextManager[LedgerConnection]:
        """Give a connection of its own to what is done to the database as a whole."""

    async def write(self, work: Work[T] | Rows, backlog: Backlog | None = None) -> T:
        """Run a unit of work in the next group commit; durable when this returns.

        With a backlog it is stored only if everything is that was handed in to that before.
        """
        return await self._writer.write(work, backlog)

    def enqueue(self, work: Callable[[Connection], T]) -> "asyncio.Future[T]":
        """Hand in a unit of work at once; the future is done when it is durable."""
        return self._writer.enqueue(work)

    def note(self, work: Callable[[Connection], Any]) -> None:
        """Hand in a unit of work nobody waits for; it costs no commit of its own if others come."""
        self._writer.note(work)

    def hand_in(self, work: Work[Any] | Rows, backlog: Backlog) -> None:
        """Hand in a unit whose backlog hears what became of it; soon durable."""
        self._writer.hand_in(work, backlog)

    def hasten(self) -> None:
        """Have what was handed in committed now; whoever waits for it hears of it."""
        self._writer.hasten()

    def flush(self) -> None:
        """Commit what was handed in before this returns."""
        self._writer.flush()

    def submit(self, work: Callable[[Connection], T]) -> "Future[T]":
        """Hand in a unit of work from a thread that has no event loop."""
        return self._writer.submit(work)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run a reading unit on one consistent snapshot."""
        return self.look(work)

    def gap(self) -> Gap | None:
        """Return what this database is known to have lost, until the user accepts the loss."""
        seal = self.seal
        if seal is None:
            return None
        # Before the snapshot: whatever the head knows by then must be in it.
        head = read_head(seal)
        return self.look(lambda connection: open_gap(connection, seal, head))

    def missing(self, table: str, firsts: Collection[str]) -> MissingRows:
        """Return which rows, of those whose key begins with one of these, the ledger misses."""
        seal = self.seal
        if seal is None:
            return MissingRows()
        head = read_head(seal)
        return self.look(lambda connection: missing_rows(connection, seal, head, table, firsts))

    def is_own(self) -> bool:
        """Say whether whoever wrote last had this key."""
        seal = self.seal
        return seal is None or self.look(lambda connection: ends_with(connection, seal))

    def verify(self) -> LedgerReport:
        """Compare every row with the ledger, and the ledger with its head; nothing is changed."""
        head = Head() if self.seal is None else read_head(self.seal)
        return self.look(lambda connection: verify_ledger(connection, self.seal, head))

    def accept(self) -> LedgerReport:
        """Have every row count as it is from now on, and return what was wrong until then."""
        seal = self.seal
        if seal is None:
            raise ValueError("a database without a seal has no ledger")
        found = self.verify()
        with self.apart() as connection:
            end = accept_rows(connection, seal, self._clock.now_ms(), len(found.flaws))
        publish(seal, end)
        return found

    def require_proven(self) -> None:
        """Refuse to go on unless every row is proven to be what was written."""
        if self.seal is not None:
            require_sound(self.verify())

    def cut_history(self) -> int:
        """Let the ledger begin anew with the rows as they are; return how many entries are gone."""
        seal = self.seal
        if seal is None:
            return 0
        head = read_head(seal)
        with self.apart() as connection:
            end, gone = cut(connection, seal, head, self._clock.now_ms())
        publish(seal, end)
        return gone

    def on_commit(self, listener: Callable[[], None]) -> None:
        """Call a quick, thread-safe function after each commit of this process."""
        self._listeners.append(listener)

    def _committed(self) -> None:
        for listener in self._listeners:
            listener()
