"""The database in a file: one writer, readers beside it."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Collection, Generator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from callboard.core.clock import Clock, SystemClock
from callboard.store.backlog import Backlog
from callboard.store.connection import Connection, Durability, StoreBusy, StoreCorrupt
from callboard.store.database import see_own
from callboard.store.faults import FaultPoints, NoFaults
from callboard.store.ledger.baseline import (
    accept_rows,
    adopt,
    publish,
    write_baseline,
)
from callboard.store.ledger.book import Gap, Head, Ledger, ends_with, open_gap, read_head
from callboard.store.ledger.cutting import cut, require_sound
from callboard.store.ledger.entries import BaselineReason, Seal, Tail, tail_of
from callboard.store.ledger.missing import MissingRows, missing_rows
from callboard.store.ledger.verification import LedgerReport, verify_ledger
from callboard.store.sqlite.connection import SqliteConnection, connect, connect_as, translate
from callboard.store.sqlite.line import SqliteLine
from callboard.store.sqlite.preparation import has_older_ledger, prepare
from callboard.store.sqlite.presence import refuse_missing
from callboard.store.sqlite.structure import check_structure
from callboard.store.sqlite.watching import WatchedConnection
from callboard.store.writer import Rows, Work, Writer

T = TypeVar("T")


class SqliteDatabase:
    """A project's database on SQLite."""

    def __init__(
        self,
        path: Path,
        durability: Durability,
        faults: FaultPoints,
        seal: Seal | None,
        clock: Clock,
    ) -> None:
        """Start the writer on a prepared file; use `open`."""
        self.path = path
        self.seal = seal
        self._clock = clock
        self._readers = threading.local()
        self._open_readers: list[SqliteConnection] = []
        self._listeners: list[Callable[[], None]] = []
        connection, ledger = _writing(path, durability, seal, clock)
        self._writer = Writer(SqliteLine(connection, path), faults, self._committed, ledger)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        durability: Durability = Durability.FULL,
        faults: FaultPoints | None = None,
        seal: Seal | None = None,
        mirrors: Sequence[Path] = (),
        clock: Clock | None = None,
    ) -> "SqliteDatabase":
        """Open a database, creating or migrating it first if need be.

        With a seal, every change of a row is written down in its ledger. `mirrors` are folders
        that hold copies of what is in it: if they hold any, a missing database is not made anew.
        """
        told = clock or SystemClock()
        refuse_missing(path, seal, mirrors)
        connection = connect(path, Durability.FULL)
        try:
            if seal is not None and has_older_ledger(connection):
                _upgrade(connection, path, seal, told)
            _make_ready(connection, path, seal, told)
        except sqlite3.Error as error:
            raise translate(error, path) from error
        finally:
            connection.close()
        return cls(path, durability, faults or NoFaults(), seal, told)

    async def write(self, work: Work[T] | Rows, backlog: Backlog | None = None) -> T:
        """Run a unit of work in the next group commit; durable when this returns.

        With a backlog it is stored only if everything is that was handed in to that before.
        """
        return await self._writer.write(work, backlog)

    def enqueue(self, work: Callable[[Connection], T]) -> "asyncio.Future[T]":
        """Hand in a unit of work at once; the future is done when it is durable.

        Units are committed in the order they are handed in: unless it fails, nothing that is handed
        in later becomes durable before it.
        """
        return self._writer.enqueue(work)

    def note(self, work: Callable[[Connection], Any]) -> None:
        """Hand in a unit of work nobody waits for; it costs no commit of its own if others come.

        What is handed in later never becomes durable before it.
        """
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
        """Run a reading unit on this thread's own connection, on one consistent snapshot."""
        connection = self._reader()
        try:
            if connection.in_transaction:
                return work(connection)
            see_own(self)
            connection.execute("BEGIN")
            try:
                return work(connection)
            finally:
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def gap(self) -> Gap | None:
        """Return what this database is known to have lost, until the user accepts the loss."""
        seal = self.seal
        if seal is None:
            return None
        # Before the snapshot: whatever the head knows by then must be in it.
        head = read_head(seal)
        return self.read(lambda _connection: open_gap(self._reader(), seal, head))

    def missing(self, table: str, firsts: Collection[str]) -> MissingRows:
        """Return which rows, of those whose key begins with one of these, the ledger misses."""
        seal = self.seal
        if seal is None:
            return MissingRows()
        head = read_head(seal)
        return self.read(
            lambda _connection: missing_rows(self._reader(), seal, head, table, firsts)
        )

    def is_own(self) -> bool:
        """Say whether whoever wrote last had this key."""
        seal = self.seal
        if seal is None:
            return True
        return self.read(lambda _connection: ends_with(self._reader(), seal))

    def verify(self) -> LedgerReport:
        """Compare every row with the ledger, and the ledger with its head; nothing is changed."""
        head = Head() if self.seal is None else read_head(self.seal)
        return self.read(lambda _connection: verify_ledger(self._reader(), self.seal, head))

    def accept(self) -> LedgerReport:
        """Have every row count as it is from now on, and return what was wrong until then."""
        seal = self.seal
        if seal is None:
            raise ValueError("a database without a seal has no ledger")
        found = self.verify()
        with self._apart() as connection:
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
        with self._apart() as connection:
            end, gone = cut(connection, seal, head, self._clock.now_ms())
        publish(seal, end)
        return gone

    def used_bytes(self) -> int:
        """Return how much of the file holds something."""
        with self._apart() as connection:
            pages, free, size = (
                int(connection.execute(f"PRAGMA {each}").fetchone()[0])
                for each in ("page_count", "freelist_count", "page_size")
            )
        return (pages - free) * size

    def shrink(self) -> bool:
        """Give room that is free in the file back; False if somebody else is at work in it."""
        try:
            with self._apart() as connection:
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except StoreBusy:
            return False
        return True

    def version_seen(self) -> int:
        """Return a number that changes whenever any process commits to this database."""
        try:
            row = self._reader().execute("PRAGMA data_version").fetchone()
        except sqlite3.Error as error:
            raise translate(error, self.path) from error
        return int(row[0])

    def damage(self) -> list[str]:
        """Return what SQLite itself finds wrong: pages, and references that lead nowhere."""
        told: list[str] = []
        for look in (_pages, _references):
            try:
                told += self.read(look)
            except StoreCorrupt as error:
                told.append(error.message)
        return told

    def on_commit(self, listener: Callable[[], None]) -> None:
        """Call a quick, thread-safe function after each commit of this process."""
        self._listeners.append(listener)

    def close(self) -> None:
        """Commit what is pending and close every connection."""
        self._writer.close()
        for reader in self._open_readers:
            reader.close()
        self._open_readers.clear()
        self._readers = threading.local()

    @contextmanager
    def _apart(self) -> Generator[SqliteConnection]:
        """Give a connection of its own to what is done to the file as a whole."""
        connection = connect(self.path)
        try:
            yield connection
        except sqlite3.Error as error:
            raise translate(error, self.path) from error
        finally:
            connection.close()

    def _reader(self) -> SqliteConnection:
        connection: SqliteConnection | None = getattr(self._readers, "connection", None)
        if connection is None:
            connection = connect(self.path)
            connection.execute("PRAGMA query_only=ON")
            self._readers.connection = connection
            self._open_readers.append(connection)
        return connection

    def _committed(self) -> None:
        for listener in self._listeners:
            listener()


def _writing(
    path: Path, durability: Durability, seal: Seal | None, clock: Clock
) -> tuple[SqliteConnection, Ledger | None]:
    """Open the connection that writes; with a seal, what it changes is watched from now on."""
    if seal is None:
        return connect(path, durability), None
    connection = connect_as(WatchedConnection, path, durability)
    connection.watch()
    return connection, Ledger(connection, seal, clock)


def _upgrade(before: SqliteConnection, path: Path, seal: Seal, clock: Clock) -> None:
    """Bring a file with a ledger up to date, and write down which rows that changed.

    Only those: a baseline of all rows would vouch for what somebody altered before. And only in a
    ledger that ends with this key: our mark on a stranger's would make it ours.
    """
    if not tail_of(before).seq or not ends_with(before, seal):
        return
    connection, ledger = _writing(path, Durability.FULL, seal, clock)
    if ledger is None:
        return

    def sealing(within: SqliteConnection, _version: int | None) -> None:
        check_structure(within, path)
        ledger.append()

    try:
        prepare(connection, path, path.parent / "backups", sealing=sealing)
        ledger.committed()
    finally:
        connection.close()
        ledger.close()


def _make_ready(connection: SqliteConnection, path: Path, seal: Seal | None, clock: Clock) -> None:
    """Bring a file up to date, refuse it if it was altered, and see to it that it has a ledger."""
    ends: list[Tail] = []

    def sealing(within: SqliteConnection, version: int | None) -> None:
        check_structure(within, path)
        if seal is not None and version is None:
            ends.append(write_baseline(within, seal, clock.now_ms(), BaselineReason.CREATED))

    prepare(connection, path, path.parent / "backups", sealing=sealing)
    check_structure(connection, path)
    if seal is not None:
        for end in ends:
            publish(seal, end)
        adopt(connection, seal, clock.now_ms())


def _pages(connection: Connection) -> list[str]:
    rows = connection.execute("PRAGMA integrity_check")
    return [str(row[0]) for row in rows if row[0] != "ok"]


def _references(connection: Connection) -> list[str]:
    rows = connection.execute("PRAGMA foreign_key_check")
    return [f"{row[0]} row {row[1]} refers to a missing {row[2]}" for row in rows]
