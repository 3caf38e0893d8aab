"""The database on a server: one writer per process, one line of writers per project."""

import logging
import threading
import zlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

from callboard.core.clock import Clock, SystemClock
from callboard.store.connection import Durability
from callboard.store.database import see_own
from callboard.store.faults import FaultPoints, NoFaults
from callboard.store.ledger.baseline import adopt, publish, write_baseline
from callboard.store.ledger.book import Ledger
from callboard.store.ledger.entries import BaselineReason, Seal, Tail
from callboard.store.ledger.rows import LedgerConnection
from callboard.store.postgres.address import StoreAddress
from callboard.store.postgres.connection import PostgresConnection, is_lost, translate
from callboard.store.postgres.line import PostgresLine
from callboard.store.postgres.listening import Listening
from callboard.store.postgres.liveness import SessionLiveness
from callboard.store.postgres.preparation import prepare, version_of
from callboard.store.postgres.schema import PostgresFullText
from callboard.store.postgres.watching import WatchedPostgres
from callboard.store.presence import refuse_gone
from callboard.store.sealed import SealedDatabase

_log = logging.getLogger(__name__)
T = TypeVar("T")
_KEPT_READERS: Final = 4


class PostgresDatabase(SealedDatabase):
    """A project's database on Postgres."""

    def __init__(
        self,
        address: StoreAddress,
        durability: Durability,
        faults: FaultPoints,
        seal: Seal | None,
        clock: Clock,
    ) -> None:
        """Start the writer and the listener on a prepared schema; use `open`."""
        super().__init__(seal, clock)
        self.address = address
        self.full_text = PostgresFullText()
        self._version = 0
        self._reading = threading.local()
        self._free: list[PostgresConnection] = []
        self._guard = threading.Lock()
        connection = WatchedPostgres(address.connect(durability), address)
        ledger = None if seal is None else Ledger(connection, seal, clock)
        self._start(PostgresLine(connection, durability), faults, ledger)
        self._listening = Listening(address, self._committed)

    @classmethod
    def open(
        cls,
        address: StoreAddress,
        *,
        durability: Durability = Durability.FULL,
        faults: FaultPoints | None = None,
        seal: Seal | None = None,
        mirrors: Sequence[Path] = (),
        clock: Clock | None = None,
    ) -> "PostgresDatabase":
        """Open a database, creating or migrating its schema first if need be.

        A server on which the schema of a project that has one is missing is refused: it may be an
        empty one that took the other's place.
        """
        told = clock or SystemClock()
        connection = WatchedPostgres(address.connect(), address)
        try:
            if version_of(connection) is None:
                refuse_gone(str(address), seal, mirrors)
            _make_ready(connection, seal, told)
        except Exception as error:
            raise translate(error, address) from error
        finally:
            connection.close()
        return cls(address, durability, faults or NoFaults(), seal, told)

    def look(self, work: Callable[[LedgerConnection], T]) -> T:
        """Run a reading unit on a connection of this thread's own, on one consistent snapshot."""
        held: PostgresConnection | None = getattr(self._reading, "connection", None)
        if held is not None:
            return work(held)
        see_own(self)
        try:
            with self._reader() as connection:
                return work(connection)
        except Exception as error:
            raise translate(error, self.address) from error

    @contextmanager
    def apart(self) -> Generator[PostgresConnection]:
        """Give a connection of its own to what is done to the schema as a whole."""
        connection = PostgresConnection(self.address.connect(), self.address)
        try:
            yield connection
        except Exception as error:
            raise translate(error, self.address) from error
        finally:
            connection.close()

    def used_bytes(self) -> int:
        """Return how much room the tables of the project take on the server."""
        row = self.look(lambda each: each.execute(_USED, (self.address.schema,)).fetchone())
        return int(row[0])

    def shrink(self) -> bool:
        """Leave free room to the server, which uses it again by itself."""
        return True

    def version_seen(self) -> int:
        """Return a number that changes whenever any process commits to this database."""
        if self._listening.is_open:
            return self._version
        # What is visible on the server changes with every commit; others' count as well.
        told = self.look(lambda each: each.execute("SELECT pg_current_snapshot()").fetchone()[0])
        return -1 - zlib.crc32(str(told).encode())

    def damage(self) -> list[str]:
        """Return what is wrong with what is kept; the server looks after its own pages."""
        return []

    def liveness(self, _locks: Path) -> SessionLiveness:
        """Return what tells which processes live."""
        return SessionLiveness(self.address)

    def close(self) -> None:
        """Commit what is pending and close every connection."""
        self._writer.close()
        self._listening.close()
        with self._guard:
            free, self._free = self._free, []
        for reader in free:
            reader.close()

    @contextmanager
    def _reader(self) -> Generator[PostgresConnection]:
        """Hold a connection of this thread's own, with a snapshot taken."""
        connection = self._begun()
        self._reading.connection = connection
        try:
            yield connection
        finally:
            self._reading.connection = None
            self._give_back(connection)

    def _begun(self) -> PostgresConnection:
        with self._guard:
            connection = self._free.pop() if self._free else None
        if connection is not None:
            try:
                connection.raw.execute(_SNAPSHOT)
            except Exception as error:
                if not is_lost(error, connection):
                    raise
                # The server was started again meanwhile: nothing has been read yet.
                with self._guard:
                    self._free.clear()
            else:
                return connection
        connection = PostgresConnection(self.address.connect(), self.address)
        connection.raw.execute(_SNAPSHOT)
        return connection

    def _give_back(self, connection: PostgresConnection) -> None:
        if not connection.raw.closed:
            try:
                connection.raw.execute("COMMIT")
            except Exception as error:  # noqa: BLE001 - it only read
                _log.debug("a reading connection was lost: %s", error)
                connection.close()
                return
            with self._guard:
                if len(self._free) < _KEPT_READERS:
                    self._free.append(connection)
                    return
            connection.close()

    def _committed(self) -> None:
        self._version += 1
        super()._committed()


_USED: Final = (
    "SELECT COALESCE(SUM(pg_total_relation_size(oid)), 0) FROM pg_class"
    " WHERE relnamespace = to_regnamespace(?) AND relkind = 'r'"
)
_SNAPSHOT: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


def _make_ready(connection: WatchedPostgres, seal: Seal | None, clock: Clock) -> None:
    """Bring a schema up to date, refuse it if it was altered, and see to its ledger."""
    ledger = None if seal is None else Ledger(connection, seal, clock)
    ends: list[Tail] = []

    def sealing(within: PostgresConnection, version: int | None) -> None:
        if seal is None or ledger is None:
            return
        if version is None:
            ends.append(write_baseline(within, seal, clock.now_ms(), BaselineReason.CREATED))
        else:
            # Only what the change of the schema touched: the rest may have been altered before.
            ledger.append()

    prepare(connection, seal, sealing)
    if seal is None or ledger is None:
        return
    for end in ends:
        publish(seal, end)
    if not ends:
        ledger.committed()
    ledger.close()
    adopt(connection, seal, clock.now_ms())
