"""Standing in line on Postgres: one writer of a project at a time, by a lock of its transaction.

A connection that is lost before the commit was sent has stored nothing: the work is done again. One
lost in the commit is asked for by the transaction's number when the server is back, so that nobody
has to guess whether it took place.
"""

import logging
import time
from typing import TYPE_CHECKING, Any, Final

from callboard.store.connection import Durability, StoreBusy, StoreError
from callboard.store.postgres.connection import (
    ConnectionLost,
    PostgresConnection,
    is_lost,
    translate,
)
from callboard.store.postgres.preparation import check_identity

if TYPE_CHECKING:
    import psycopg

_log = logging.getLogger(__name__)
PATIENCE_SECONDS: Final = 20.0
_WHAT_IS_THERE: Final = (
    "SELECT pg_current_xact_id()::text, (SELECT value FROM meta WHERE key = 'schema_version'),"
    " (SELECT project_id FROM identity)"
)
_FIRST_PAUSE_SECONDS: Final = 0.05
_LONGEST_PAUSE_SECONDS: Final = 1.0


class CommitInDoubt(StoreBusy):
    """The server went away in a commit and cannot be asked whether it took place."""

    code = "commit_in_doubt"


class PostgresLine:
    """The connection of a process that writes to a project's schema."""

    def __init__(self, connection: PostgresConnection, durability: Durability) -> None:
        """Take the connection; when it is lost, it is opened again."""
        self.connection = connection
        self._durability = durability
        self._address = address = connection.address
        self._number = ""
        self._found: tuple[Any, ...] = ("", None, None)
        key = address.number("writers")
        # At once, so that standing in line costs one way there and back. Each statement sees what
        # was committed before it began, so the last two come after the lock.
        self._begin = f"BEGIN; SELECT pg_advisory_xact_lock({key:d}); {_WHAT_IS_THERE}"

        self._commit = f"SELECT pg_notify('{address.schema}', ''); COMMIT"

    def begin(self, *, patient: bool) -> bool:
        """Open a transaction when the others in line are done; never on an event loop's time."""
        if not patient:
            return False
        try:
            self._open()
        except Exception as error:
            if not is_lost(error, self.connection):
                raise
            self._reconnect()
            self._open()
        return True

    def check(self) -> None:
        """Refuse a schema that is another project's or was brought to another version."""
        check_identity(self._address, self._found[2], self._found[1])

    def commit(self) -> None:
        """Make the open transaction durable."""
        try:
            self._run(self._commit)
        except Exception as error:
            if not is_lost(error, self.connection):
                raise
            self._settle()

    def rollback(self) -> None:
        """Undo the open transaction; with its connection it is gone by itself."""
        try:
            if not self.connection.raw.closed and self.connection.in_transaction:
                self.connection.raw.execute("ROLLBACK")
        except Exception as error:  # noqa: BLE001 - the server rolls back what nobody commits
            _log.debug("a transaction was not rolled back by us: %s", error)

    def is_busy(self, error: Exception) -> bool:
        """Say whether nobody's turn came or the server is away."""
        told = self.explain(error)
        return isinstance(told, StoreBusy) and not isinstance(told, ConnectionLost)

    def is_lost(self, error: Exception) -> bool:
        """Say whether nothing was stored because the connection went away."""
        return isinstance(self.explain(error), ConnectionLost)

    def explain(self, error: Exception) -> Exception:
        """Return what the user is told of a failure."""
        return translate(error, self._address)

    def close(self) -> None:
        """Let go of the connection."""
        self.connection.close()

    def _open(self) -> None:
        try:
            self._found = self._run(self._begin).fetchone() or ("", None, None)
        except BaseException:
            self.rollback()
            raise
        self._number = str(self._found[0])

    def _run(self, script: str) -> "psycopg.Cursor[Any]":
        """Run several statements at once and return what the last one gave back."""
        cursor = self.connection.raw.execute(script.encode())
        while cursor.nextset():
            pass
        return cursor

    def _reconnect(self) -> None:
        """Open another connection, waiting for a server that is being started again."""
        self.connection.close()
        deadline, pause = time.monotonic() + PATIENCE_SECONDS, _FIRST_PAUSE_SECONDS
        while True:
            try:
                self.connection.take(self._address.connect(self._durability))
            except StoreError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            else:
                return

    def _settle(self) -> None:
        """Find out what became of a transaction whose commit was sent and not answered."""
        number = self._number
        try:
            self._reconnect()
            # Whoever is still committing holds the lock: after it the answer is final.
            self._open()
            self.check()
            row = self.connection.execute(
                "SELECT pg_xact_status(CAST(? AS xid8))", (number,)
            ).fetchone()
            self.rollback()
        except Exception as error:
            raise CommitInDoubt(
                f"The server of {self._address} went away in a commit and does not answer",
                fix="Start it again; what was stored is read again before anything goes on.",
            ) from error
        if row is None or row[0] != "committed":
            raise ConnectionLost(f"The server of {self._address} went away before it committed")
