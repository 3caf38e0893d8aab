"""Standing in line on SQLite: one writer at a time holds the file, and the others try again."""

import sqlite3
import time
from pathlib import Path
from typing import Final

from callboard.store.connection import RuleBroken
from callboard.store.sqlite.connection import SqliteConnection, is_busy, translate
from callboard.store.sqlite.preparation import refuse_other_version

_PATIENCE_SECONDS: Final = 10.0
_RETRY_SECONDS: Final = 0.002


class SqliteLine:
    """The connection of a process that writes to a file."""

    def __init__(self, connection: SqliteConnection, path: Path) -> None:
        """Take the connection; the event loop never waits for another process by it."""
        self.connection = connection
        self._path = path
        self._data_version = -1
        # The thread waits by itself.
        connection.execute("PRAGMA busy_timeout=0")

    def begin(self, *, patient: bool) -> bool:
        """Open a transaction, waiting while another process writes; the impatient just hear no."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                self.connection.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                if not patient:
                    return False
                if not is_busy(error) or time.monotonic() > deadline:
                    raise
                time.sleep(_RETRY_SECONDS)
            else:
                return True

    def check(self) -> None:
        """Refuse a file that another process has brought to another version since."""
        (version,) = self.connection.execute("PRAGMA data_version").fetchone()
        if version != self._data_version:
            refuse_other_version(self.connection, self._path)
            self._data_version = version

    def commit(self) -> None:
        """Make the open transaction durable."""
        self.connection.execute("COMMIT")

    def rollback(self) -> None:
        """Undo the open transaction; a full disk makes SQLite do so by itself."""
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def is_busy(self, error: Exception) -> bool:
        """Say whether another process held the file for too long."""
        return is_busy(error)

    def is_lost(self, _error: Exception, /) -> bool:
        """Say no: a file does not go away between two statements."""
        return False

    def explain(self, error: Exception) -> Exception:
        """Return what the user is told of a failure."""
        if not isinstance(error, sqlite3.Error):
            return error
        if isinstance(error, sqlite3.IntegrityError):
            told = RuleBroken(f"The database refused a row: {error}", path=str(self._path))
        else:
            told = translate(error, self._path)
        told.__cause__ = error
        return told

    def close(self) -> None:
        """Let go of the connection."""
        self.connection.close()
