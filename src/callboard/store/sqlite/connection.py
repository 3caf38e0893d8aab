"""Opening SQLite the way Callboard needs it, and translating its failures for the user."""

import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

from callboard.store.connection import (
    DiskFull,
    Durability,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreReadOnly,
)
from callboard.store.kept import check_database
from callboard.store.ledger.rows import TableShape, is_protected

BUSY_SECONDS: Final = 10.0
_LOOK_AGAIN_SECONDS: Final = 0.005


class SqliteConnection(sqlite3.Connection):
    """A connection the ledger can be read and kept through."""

    def protected_tables(self) -> list[str]:
        """Return the names of the tables whose rows stand in the ledger, sorted."""
        rows = self.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        return [row[0] for row in rows if is_protected(row[0])]

    def shape_of(self, table: str) -> TableShape:
        """Return the shape of one table."""
        columns: list[str] = []
        keys: list[tuple[int, int]] = []
        has_blobs = False
        for row in self.execute("SELECT name, type, pk FROM pragma_table_info(?)", (table,)):
            if row[2]:
                keys.append((row[2], len(columns)))
            has_blobs = has_blobs or row[1] == "BLOB"
            columns.append(row[0])
        return TableShape.of(table, columns, [at for _, at in sorted(keys)], has_blobs)

    def arrival(self, _table: str, /) -> str:
        """Return by what rows are sorted to be in the order in which they came."""
        return "rowid"

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Write within a transaction of its own."""
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            if self.in_transaction:
                self.execute("ROLLBACK")
            raise

    @contextmanager
    def any_text(self) -> Generator[None]:
        """Read text that is none as well, each spoiled byte as a mark of its own."""
        usual = self.text_factory
        self.text_factory = _marked
        try:
            yield
        finally:
            self.text_factory = usual


def _marked(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


C = TypeVar("C", bound=SqliteConnection)


def connect(path: Path, durability: Durability = Durability.FULL) -> SqliteConnection:
    """Open a connection in WAL mode with foreign keys, explicit transactions and named rows."""
    return connect_as(SqliteConnection, path, durability)


def connect_as(kind: type[C], path: Path, durability: Durability) -> C:
    """Open such a connection of a kind."""
    check_database(path)
    connection: C | None = None
    try:
        connection = sqlite3.connect(
            path,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            factory=kind,
        )
        connection.row_factory = sqlite3.Row
        write_ahead(connection)
        connection.execute(f"PRAGMA synchronous={durability.value}")
        # macOS hands a commit to the disk's own cache unless it is asked for more; elsewhere this
        # changes nothing.
        is_full = int(durability is Durability.FULL)
        connection.execute(f"PRAGMA fullfsync={is_full}")
        connection.execute(f"PRAGMA checkpoint_fullfsync={is_full}")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA wal_autocheckpoint=2000")
        connection.execute("PRAGMA cell_size_check=ON")
    except sqlite3.Error as error:
        if connection is not None:
            connection.close()
        raise translate(error, path) from error
    return connection


def write_ahead(connection: sqlite3.Connection, patience: float = BUSY_SECONDS) -> None:
    """Have a database keep a write-ahead log, so that readers and the writer never wait in turn.

    Whoever changes the mode needs the file alone, and SQLite does not wait for that by itself:
    where many open a new file at once, all but the first would find it locked.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(_LOOK_AGAIN_SECONDS)
        else:
            return


def is_busy(error: BaseException | None) -> bool:
    """Say whether somebody else had the database just then."""
    return (getattr(error, "sqlite_errorname", "") or "").startswith("SQLITE_BUSY")


def translate(error: sqlite3.Error, path: Path) -> StoreError:
    """Say what a SQLite failure means for the user and what they can do."""
    name = getattr(error, "sqlite_errorname", "") or ""
    text = str(error)
    if name == "SQLITE_FULL" or "disk is full" in text:
        return DiskFull(
            f"No space left while writing {path}",
            fix="Free some disk space, then retry the run: finished steps are kept.",
            path=str(path),
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return StoreReadOnly(
            f"Cannot write {path}: {text}",
            fix=f"Give yourself write permission for {path.parent}, or copy the project.",
            path=str(path),
        )
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or "malformed" in text:
        return StoreCorrupt(
            f"The database {path} is damaged: {text}",
            fix="Run `callboard doctor`; backups lie in .callboard/backups. Nothing was changed.",
            path=str(path),
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreBusy(
            f"Another process keeps {path} locked",
            fix="Wait for it or stop it, then try again.",
            path=str(path),
        )
    if name.startswith("SQLITE_IOERR"):
        return DiskFull(
            f"The disk refused a write to {path}: {text}",
            fix="Check free space and the disk's health, then retry the run.",
            path=str(path),
        )
    return StoreError(f"The database {path} failed: {text}", path=str(path), sqlite=name)
