"""Who is alive, by a lock of a session on the server: it ends with the process or its connection.

No clock is involved. A process that lost its way to the server takes its lock again as soon as it
can; whoever took over its runs meanwhile has a newer claim, and what the old owner writes fails.
"""

import logging
import threading
from typing import TYPE_CHECKING, Any, Final

from callboard.store.connection import Connection, StoreError
from callboard.store.postgres.address import StoreAddress

if TYPE_CHECKING:
    import psycopg

_log = logging.getLogger(__name__)
_LOOK_SECONDS: Final = 1.0
_IS_HELD: Final = (
    "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1"
    " AND ((CAST(classid AS bigint) << 32) | CAST(objid AS bigint)) = ?"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


class SessionLiveness:
    """The lock of this process on a connection of its own, and a look at the others'."""

    def __init__(self, address: StoreAddress) -> None:
        """Hold nothing yet."""
        self._address = address
        self._raw: psycopg.Connection[Any] | None = None
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def hold(self, owner: str) -> None:
        """Take the lock of a process, and keep it until `let_go`."""
        self._take(owner)
        self._stopped.clear()
        self._thread = threading.Thread(
            target=self._keep, args=(owner,), name="callboard-liveness", daemon=True
        )
        self._thread.start()

    def tidy(self) -> None:
        """Leave nothing behind: a lock of a session is gone with it."""

    def let_go(self) -> None:
        """Give the lock up."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._raw is not None:
            self._raw.close()
            self._raw = None

    def is_held(self, connection: Connection, owner: str) -> bool:
        """Say whether some process holds a lock."""
        return connection.execute(_IS_HELD, (self._address.number(owner),)).fetchone() is not None

    def _take(self, owner: str) -> None:
        raw = self._address.connect()
        raw.execute("SELECT pg_advisory_lock(%s)", (self._address.number(owner),))
        self._raw = raw

    def _keep(self, owner: str) -> None:
        import psycopg

        while not self._stopped.wait(_LOOK_SECONDS):
            try:
                if self._raw is None:
                    self._take(owner)
                    _log.warning("the lock of process %s is held again", owner)
                elif not self._stopped.is_set():
                    self._raw.execute("SELECT 1")
            except (StoreError, psycopg.Error) as error:
                if self._raw is not None:
                    _log.warning("the lock of process %s was lost: %s", owner, error)
                    self._raw.close()
                    self._raw = None
