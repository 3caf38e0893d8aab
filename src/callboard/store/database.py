"""Database: one writer, readers beside it. Knows how to keep rows, not what they mean."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from callboard.store.connection import Connection, Durability, connect, translate
from callboard.store.faults import FaultPoints, NoFaults
from callboard.store.migrations import prepare
from callboard.store.writer import Rows, Writer

__all__ = ["Connection", "Database", "Durability"]

T = TypeVar("T")


class Database:
    """A project's database on SQLite."""

    def __init__(self, path: Path, durability: Durability, faults: FaultPoints) -> None:
        """Start the writer on a prepared file; use `open`."""
        self.path = path
        self._readers = threading.local()
        self._open_readers: list[sqlite3.Connection] = []
        self._listeners: list[Callable[[], None]] = []
        self._writer = Writer(path, durability, faults, self._committed)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        durability: Durability = Durability.FULL,
        faults: FaultPoints | None = None,
    ) -> "Database":
        """Open a database, creating or migrating it first if need be."""
        connection = connect(path, Durability.FULL)
        try:
            prepare(connection, path, path.parent / "backups")
        except sqlite3.Error as error:
            raise translate(error, path) from error
        finally:
            connection.close()
        return cls(path, durability, faults or NoFaults())

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run a unit of work in the next group commit; durable when this returns."""
        return await self._writer.write(work)

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

    async def insert(self, rows: Rows) -> None:
        """Insert rows in the next group commit; durable when this returns."""
        await self._writer.insert(rows)

    def submit(self, work: Callable[[Connection], T]) -> "Future[T]":
        """Hand in a unit of work from a thread that has no event loop."""
        return self._writer.submit(work)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run a reading unit on this thread's own connection, on one consistent snapshot."""
        connection = self._reader()
        try:
            if connection.in_transaction:
                return work(connection)
            connection.execute("BEGIN")
            try:
                return work(connection)
            finally:
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def version_seen(self) -> int:
        """Return a number that changes whenever any process commits to this database."""
        try:
            row = self._reader().execute("PRAGMA data_version").fetchone()
        except sqlite3.Error as error:
            raise translate(error, self.path) from error
        return int(row[0])

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

    def _reader(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._readers, "connection", None)
        if connection is None:
            connection = connect(self.path)
            connection.execute("PRAGMA query_only=ON")
            self._readers.connection = connection
            self._open_readers.append(connection)
        return connection

    def _committed(self) -> None:
        for listener in self._listeners:
            listener()
