"""The database in a file: one writer, readers beside it."""

import sqlite3
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from callboard.core.clock import Clock, SystemClock
from callboard.store.connection import Connection, Durability, StoreBusy, StoreCorrupt
from callboard.store.database import see_own
from callboard.store.faults import FaultPoints, NoFaults
from callboard.store.ledger.baseline import (
    adopt,
    publish,
    write_baseline,
)
from callboard.store.ledger.book import Ledger, ends_with
from callboard.store.ledger.entries import BaselineReason, Seal, Tail, tail_of
from callboard.store.ledger.rows import LedgerConnection
from callboard.store.presence import refuse_missing
from callboard.store.sealed import SealedDatabase
from callboard.store.sqlite.connection import SqliteConnection, connect, connect_as, translate
from callboard.store.sqlite.line import SqliteLine
from callboard.store.sqlite.liveness import FileLiveness
from callboard.store.sqlite.preparation import has_older_ledger, prepare
from callboard.store.sqlite.schema import SqliteFullText
from callboard.store.sqlite.structure import check_structure
from callboard.store.sqlite.watching import WatchedConnection

T = TypeVar("T")


class SqliteDatabase(SealedDatabase):
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
        super().__init__(seal, clock)
        self.path = path
        self.full_text = SqliteFullText()
        self._readers = threading.local()
        self._open_readers: list[SqliteConnection] = []
        connection, ledger = _writing(path, durability, seal, clock)
        self._start(SqliteLine(connection, path), faults, ledger)

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

    def look(self, work: Callable[[LedgerConnection], T]) -> T:
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

    def used_bytes(self) -> int:
        """Return how much of the file holds something."""
        with self.apart() as connection:
            pages, free, size = (
                int(connection.execute(f"PRAGMA {each}").fetchone()[0])
                for each in ("page_count", "freelist_count", "page_size")
            )
        return (pages - free) * size

    def shrink(self) -> bool:
        """Give room that is free in the file back; False if somebody else is at work in it."""
        try:
            with self.apart() as connection:
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

    def liveness(self, locks: Path) -> FileLiveness:
        """Return what tells which processes live."""
        return FileLiveness(locks)

    def close(self) -> None:
        """Commit what is pending and close every connection."""
        self._writer.close()
        for reader in self._open_readers:
            reader.close()
        self._open_readers.clear()
        self._readers = threading.local()

    @contextmanager
    def apart(self) -> Generator[SqliteConnection]:
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
