"""Base: the database of a domain, SQLite or Postgres by its address, and how each says things.

Reads cannot write and cannot run for long. Writes of a process stand in line and are one
transaction each. Nothing here knows a table.
"""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from callboard.choreography.turn.requests import QueryError
from callboard.store.sqlite.connection import is_busy, write_ahead

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, RootTransaction

FOLD: Final = "callboard_fold"
"""The function that folds case on SQLite; connections bring it along."""


class Dialect(Protocol):
    """What a compiled filter needs to be said in the database's own way."""

    def fold(self, column: Any) -> Any:
        """Return a text without its case."""
        ...

    def list_holds(self, column: Any, value: Any) -> Any:
        """Return whether a list in a column holds a value."""
        ...


class SqliteDialect:
    """SQLite, with lists as JSON text."""

    def fold(self, column: Any) -> Any:
        """Return a text without its case."""
        from sqlalchemy import func

        return getattr(func, FOLD)(column)

    def list_holds(self, column: Any, value: Any) -> Any:
        """Return whether a list in a column holds a value."""
        from sqlalchemy import func, select

        items = func.json_each(column).table_valued("value")
        return select(1).select_from(items).where(items.c.value == value).exists()


class PostgresDialect:
    """Postgres, with lists as JSONB."""

    def fold(self, column: Any) -> Any:
        """Return a text without its case."""
        from sqlalchemy import func

        return func.lower(column)

    def list_holds(self, column: Any, value: Any) -> Any:
        """Return whether a list in a column holds a value."""
        from sqlalchemy import cast
        from sqlalchemy.dialects.postgresql import JSONB

        return cast(column, JSONB).contains([value])


def dialect_of(*, is_sqlite: bool) -> Dialect:
    """Return the dialect of a database."""
    return SqliteDialect() if is_sqlite else PostgresDialect()


T = TypeVar("T")

BUSY_MS: Final = 5_000
READ_SECONDS: Final = 2.0
_STEPS_BETWEEN_LOOKS: Final = 10_000
_READERS: Final = 4
_TURNS_WAITED: Final = 5


class Base:
    """An open database."""

    def __init__(self, url: str, *, read_seconds: float = READ_SECONDS) -> None:
        """Take the address; connections are made when they are first needed."""
        self.url = url
        self.is_sqlite = url.startswith("sqlite")
        self._read_seconds = read_seconds
        self._engine = self._make_engine(readonly=False)
        self._reading = self._make_engine(readonly=True)
        # One thread writes: whoever comes later waits in line instead of finding a lock.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="base-writer")
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="base-reader")

    async def read(self, work: "Callable[[Connection], T]") -> T:
        """Run a reading unit on a consistent snapshot that nobody can write through."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self.read_now, work)

    async def write(self, work: "Callable[[Connection], T]") -> T:
        """Run a writing unit as one transaction; what it raises undoes all of it."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, self.write_now, work)

    def read_now(self, work: "Callable[[Connection], T]") -> T:
        """Do the same as `read`, on the calling thread."""
        from sqlalchemy.exc import DBAPIError

        deadline = _Deadline(self._read_seconds)
        try:
            with self._reading.connect() as connection:
                return self._bounded(connection, deadline, work)
        except DBAPIError as error:
            if deadline.has_struck or _is_timeout(error):
                raise QueryError(
                    "timeout",
                    f"The query took longer than {self._read_seconds:g} seconds",
                    allowed=[],
                    hint="Ask for less: a narrower filter, or a smaller limit.",
                ) from error
            raise

    def write_now(self, work: "Callable[[Connection], T]") -> T:
        """Do the same as `write`, on the calling thread."""
        with self._engine.connect() as connection, self._begun(connection):
            return work(connection)

    def rebuild_now(self, work: "Callable[[Connection], T]") -> T:
        """Do the same while SQLite follows no keys, so that a table can be replaced by another."""
        with self._engine.connect() as connection:
            self._follow_keys(connection, "OFF")
            try:
                with self._begun(connection):
                    return work(connection)
            finally:
                self._follow_keys(connection, "ON")

    def _follow_keys(self, connection: "Connection", wanted: str) -> None:
        # Within a transaction SQLite would not heed it: it goes past the one SQLAlchemy begins.
        raw: Any = connection.connection.driver_connection
        if self.is_sqlite:
            raw.execute(f"PRAGMA foreign_keys={wanted}")

    def close(self) -> None:
        """Let go of every connection; what was handed in is finished first."""
        self._writer.shutdown()
        self._readers.shutdown()
        self._engine.dispose()
        self._reading.dispose()

    def _begun(self, connection: "Connection") -> "RootTransaction":
        """Begin a transaction; where very many stand in line, wait for more than one turn."""
        from sqlalchemy.exc import OperationalError

        for _ in range(_TURNS_WAITED):
            try:
                return connection.begin()
            except OperationalError as error:
                if not is_busy(error.orig):
                    raise
        return connection.begin()

    def _bounded(
        self, connection: "Connection", deadline: "_Deadline", work: "Callable[[Connection], T]"
    ) -> T:
        if not self.is_sqlite:
            from sqlalchemy import text

            millis = int(self._read_seconds * 1000)
            connection.execute(text("SET TRANSACTION READ ONLY"))
            connection.execute(text(f"SET LOCAL statement_timeout = {millis}"))
            return work(connection)
        raw: Any = connection.connection.driver_connection
        raw.set_progress_handler(deadline.look, _STEPS_BETWEEN_LOOKS)
        try:
            return work(connection)
        finally:
            raw.set_progress_handler(None, 0)

    def _make_engine(self, *, readonly: bool) -> "Engine":
        from sqlalchemy import create_engine, event
        from sqlalchemy.pool import QueuePool

        if not self.is_sqlite:
            return create_engine(self.url, pool_size=_READERS, pool_pre_ping=True)
        engine = create_engine(
            self.url,
            poolclass=QueuePool,
            pool_size=_READERS,
            connect_args={"check_same_thread": False, "timeout": BUSY_MS / 1000},
        )

        @event.listens_for(engine, "connect")
        def prepare(connection: sqlite3.Connection, _record: object) -> None:
            # We begin transactions ourselves: the driver would begin them too late.
            connection.isolation_level = None
            write_ahead(connection)
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
            # As in Postgres; what ignores case folds both sides itself.
            connection.execute("PRAGMA case_sensitive_like=ON")
            connection.create_function(FOLD, 1, _fold, deterministic=True)
            connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
            if readonly:
                connection.execute("PRAGMA query_only=ON")

        @event.listens_for(engine, "begin")
        def begin(connection: "Connection") -> None:
            connection.exec_driver_sql("BEGIN" if readonly else "BEGIN IMMEDIATE")

        _ = prepare, begin
        return engine


def _fold(text: Any) -> Any:
    """Fold case as Unicode has it; SQLite's own functions know ASCII only."""
    return text.casefold() if isinstance(text, str) else text


class _Deadline:
    """Tells SQLite to stop when the time is up."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds
        self.has_struck = False
        self._lock = threading.Lock()

    def look(self) -> int:
        with self._lock:
            if time.monotonic() > self._ends:
                self.has_struck = True
        return int(self.has_struck)


def _is_timeout(error: Any) -> bool:
    return type(error.orig).__name__ == "QueryCanceled"
