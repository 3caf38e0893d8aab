"""Relocation: a project's rows from its file to a server, or back, with nothing lost on the way.

What is left behind is kept: the file goes into the backups, the schema is renamed.
"""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from callboard.core.clock import Clock, SystemClock
from callboard.core.errors import ErrorTier, InvalidInput
from callboard.store.connection import Connection, StoreError
from callboard.store.copying import CopyDiffers, CopyReport, Progress, copy_rows, count_rows
from callboard.store.database import Database
from callboard.store.journal.processes import list_processes
from callboard.store.ledger.rows import LedgerConnection
from callboard.store.postgres.address import StoreAddress, is_address
from callboard.store.sqlite.connection import connect
from callboard.store.sqlite.database import SqliteDatabase
from callboard.store.sqlite.preparation import prepare
from callboard.studio.database import admit, open_database, seal_of
from callboard.studio.place import keep_on, place_of, server_of
from callboard.studio.project import Project
from callboard.tools.audit.verification import verify

FILE: Final = "file"
_COPYING: Final = "callboard.copying.db"


class StoreInUse(StoreError):
    """Somebody has the project open."""

    code = "store_in_use"
    tier = ErrorTier.USER_FIXABLE


class TargetNotEmpty(StoreError):
    """There are rows already where a project is to be copied to."""

    code = "target_not_empty"
    tier = ErrorTier.USER_FIXABLE


@dataclass(frozen=True, slots=True)
class Relocated:
    """What was copied, or would be, from where to where; `aside` is where the old rows went."""

    source: str
    target: str
    rows: CopyReport
    aside: str = ""


@dataclass(frozen=True, slots=True)
class Relocation:
    """One project on its way to another store."""

    project: Project
    target: Path | StoreAddress
    clock: Clock

    @classmethod
    def to(cls, project: Project, where: str, clock: Clock | None = None) -> "Relocation":
        """Take a project and where it is to go: the address of a server, or `file`."""
        if where == FILE:
            target: Path | StoreAddress = project.database
        elif is_address(where):
            target = StoreAddress(where, project.standing.identity.name)
        else:
            raise InvalidInput(
                f"{where!r} is neither `file` nor an address of Postgres",
                fix="Write postgresql://USER@HOST/DATABASE, or `file` for a file in the project.",
            )
        if isinstance(target, Path) == (server_of(project) is None):
            raise TargetNotEmpty(
                f"The project is kept {'in a file' if isinstance(target, Path) else 'on a server'}"
                " already",
                fix="`callboard store show` says where.",
            )
        return cls(project, target, clock or SystemClock())

    def rehearse(self) -> Relocated:
        """Look at both sides and copy nothing."""
        database = self._source()
        try:
            self._refuse_filled()
            rows = database.read(lambda connection: self._unused(database, connection))
        finally:
            database.close()
        return Relocated(self._told_source, str(self.target), rows)

    def carry_out(self, progress: Progress) -> Relocated:
        """Copy every row, compare, and have the project be kept there from now on."""
        source = self._told_source
        database = self._source()
        try:
            self._refuse_filled()
            before = database.verify()

            def work(connection: Connection) -> CopyReport:
                # Within a write, so that nobody else writes meanwhile.
                self._unused(database, connection)
                with self._made() as made:
                    # The connection of a writer is one that a ledger is kept through.
                    return copy_rows(cast("LedgerConnection", connection), made, progress)

            rows = database.submit(work).result()
        finally:
            database.close()
        self._compare(len(before.flaws), before.rows)
        return Relocated(source, str(self.target), rows, self._switch())

    @property
    def _told_source(self) -> str:
        return server_of(self.project) or str(self.project.database)

    def _source(self) -> Database:
        return open_database(admit(self.project))

    def _unused(self, database: Database, connection: Connection) -> CopyReport:
        """Count the rows; refuse a project that a living process has open."""
        liveness = database.liveness(self.project.locks)
        alive = [p for p in list_processes(connection) if liveness.is_held(connection, p.id)]
        if alive:
            named = ", ".join(f"{each.pid} on {each.host}" for each in alive[:5])
            raise StoreInUse(
                f"{len(alive)} processes have the project open: {named}",
                fix="Stop them first; their runs go on from where they are, on the new store.",
            )
        return count_rows(connection)

    def _refuse_filled(self) -> None:
        if isinstance(self.target, Path):
            is_filled = self.target.exists()
        else:
            with self.target.connect() as raw:
                found = raw.execute("SELECT to_regnamespace(%s)", (self.target.schema,)).fetchone()
                is_filled = found is not None and found[0] is not None
        if is_filled:
            raise TargetNotEmpty(
                f"{self.target} holds something already",
                fix="Move it away or name another place; nothing is ever written over it.",
            )

    @contextmanager
    def _made(self) -> Generator[Connection]:
        """Give the empty tables of the target, in a transaction that ends with the block."""
        if isinstance(self.target, Path):
            with _made_file(self.target.with_name(_COPYING)) as connection:
                yield connection
            return
        from callboard.store.postgres.connection import PostgresConnection
        from callboard.store.postgres.preparation import follow_numbers, make_within

        connection = PostgresConnection(self.target.connect(), self.target)
        try:
            # All or nothing: a copy that is broken off leaves no schema behind.
            with connection.transaction():
                make_within(connection, seal_of(self.project))
                yield connection
                follow_numbers(connection)
        finally:
            connection.close()

    def _opened(self) -> Database:
        seal = seal_of(self.project)
        if isinstance(self.target, Path):
            return SqliteDatabase.open(self.target.with_name(_COPYING), seal=seal)
        from callboard.store.postgres.database import PostgresDatabase

        return PostgresDatabase.open(self.target, seal=seal)

    def _switch(self) -> str:
        """Have the copy count from now on, and put the old rows aside; return where."""
        now = self.clock.now_ms()
        if isinstance(self.target, Path):
            old = place_of(self.project)
            self.target.with_name(_COPYING).replace(self.target)
            keep_on(self.project, self.target)
            if isinstance(old, Path):
                return ""
            aside = f"{old.schema}_moved_{now}"
            with old.connect() as raw:
                raw.execute(f'ALTER SCHEMA "{old.schema}" RENAME TO "{aside[:63]}"'.encode())
            return aside
        keep_on(self.project, self.target)
        backups = self.project.folder / "backups"
        backups.mkdir(parents=True, exist_ok=True)
        for ending in ("-wal", "-shm", ""):
            left = self.project.database.with_name(f"{self.project.database.name}{ending}")
            if left.exists():
                left.rename(backups / f"moved-{now}.db{ending}")
        return str(backups / f"moved-{now}.db")

    def _compare(self, flaws: int, rows: int) -> None:
        """Compare every row with the ledger, and follow the chain of receipts, on the copy."""
        database = self._opened()
        try:
            after, chain = database.verify(), verify(database, self.project.trail)
        finally:
            database.close()
        if (len(after.flaws), after.rows) != (flaws, rows):
            raise CopyDiffers(
                f"The ledger knew {rows} rows with {flaws} flaws, and on {self.target} {after.rows}"
                f" with {len(after.flaws)}",
                fix="The project stays where it is. `callboard doctor` names what it has.",
            )
        if chain.flaws:
            raise CopyDiffers(
                f"{len(chain.flaws)} receipts do not verify on {self.target}",
                fix="The project stays where it is. `callboard receipts verify` names them.",
            )


@contextmanager
def _made_file(path: Path) -> Generator[Connection]:
    path.unlink(missing_ok=True)
    connection = connect(path)
    try:
        prepare(connection, path, path.parent / "backups")
        # What refers to a later row of its own table is whole when all is copied.
        connection.execute("PRAGMA foreign_keys=OFF")
        with connection.transaction():
            yield connection
    except sqlite3.Error:
        path.unlink(missing_ok=True)
        raise
    finally:
        connection.close()
