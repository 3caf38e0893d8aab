"""Opening SQLite the way Callboard needs it, and translating its failures for the user."""

import errno
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from callboard.core.errors import CallboardError, ErrorTier
from callboard.store.kept import check_database

Params = Mapping[str, Any] | Sequence[Any]

BUSY_SECONDS: Final = 10.0
_LOOK_AGAIN_SECONDS: Final = 0.005


class Cursor(Protocol):
    """What a statement gave back."""

    @property
    def rowcount(self) -> int:
        """How many rows the statement changed."""
        ...

    def fetchone(self) -> Any:
        """Return the next row as a mapping by column name, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """Return all remaining rows."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Go through the remaining rows."""
        ...


class Connection(Protocol):
    """An open transaction: portable SQL with `:name` or `?` parameters in, mappings out."""

    def execute(self, sql: str, parameters: Params = ..., /) -> Cursor:
        """Run one statement."""
        ...

    def executemany(self, sql: str, parameters: Any, /) -> Cursor:
        """Run one statement for many parameter sets."""
        ...


class Durability(StrEnum):
    """What a finished commit survives."""

    FULL = "full"
    NORMAL = "normal"


class StoreError(CallboardError):
    """The database could not do what was asked."""

    code = "store_error"


class DiskFull(StoreError):
    """There is no room left for the database."""

    code = "disk_full"
    tier = ErrorTier.USER_FIXABLE


class StoreReadOnly(StoreError):
    """The project cannot be written to."""

    code = "read_only"
    tier = ErrorTier.USER_FIXABLE


class StoreCorrupt(StoreError):
    """The database file is damaged."""

    code = "database_corrupt"


class StoreBusy(StoreError):
    """Another process held the database for too long."""

    code = "database_busy"
    tier = ErrorTier.TRANSIENT


class RuleBroken(CallboardError):
    """A write would have broken a rule of the database: wrong data, not a broken disk."""

    code = "rule_broken"


C = TypeVar("C", bound=sqlite3.Connection)


def connect(path: Path, durability: Durability = Durability.FULL) -> sqlite3.Connection:
    """Open a connection in WAL mode with foreign keys, explicit transactions and named rows."""
    return connect_as(sqlite3.Connection, path, durability)


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


def translate_os(error: OSError, path: Path) -> StoreError:
    """Say what a failure of the file system means for the user and what they can do."""
    told = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(
            f"No space left while writing {path}", fix="Free some disk space.", path=str(path)
        )
    return StoreReadOnly(
        f"Cannot write {path}: {told}",
        fix=f"Give yourself write permission for {path.parent}, or copy the project.",
        path=str(path),
    )


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
