"""Who executes a run: each process holds a lock that is dropped when it dies, whatever the store.

No clock is involved, so a sleeping laptop or a clock set back never makes two owners. The host name
is for the reader only: a container has a new one each time, and the lock still tells.
"""

import os
import socket
from pathlib import Path

from callboard.core.clock import Clock
from callboard.core.ids import IdMaker
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.journal.processes import (
    ProcessRecord,
    find_process,
    forget_process,
    insert_process,
    list_processes,
)


class Ownership:
    """This process as an owner of runs, and its view of the others."""

    def __init__(self, database: Database, locks: Path, ids: IdMaker, clock: Clock) -> None:
        """Prepare an identity; nothing is locked before `register`."""
        self.id = ids.make("process")
        self._database = database
        self._liveness = database.liveness(locks)
        self._record = ProcessRecord(self.id, os.getpid(), socket.gethostname(), clock.now_ms())
        self._is_registered = False

    async def register(self) -> None:
        """Take the lock, then tell the database that this process exists."""
        self._liveness.hold(self.id)
        self._is_registered = True
        await self._database.write(lambda connection: insert_process(connection, self._record))

    async def leave(self) -> None:
        """Give up the identity; runs must have been released before."""
        if not self._is_registered:
            return
        try:
            await self._database.write(self._leave)
            self._liveness.tidy()
        finally:
            # Whatever became of the row, a process that has left must not look alive.
            self._liveness.let_go()
            self._is_registered = False

    def _leave(self, connection: Connection) -> None:
        """Forget this process, and the dead ones whose runs have found another owner."""
        forget_process(connection, self.id)
        for process in list_processes(connection):
            if not self.is_alive(connection, process.id):
                forget_process(connection, process.id)

    def is_alive(self, connection: Connection, owner: str) -> bool:
        """Say whether a run's owner still lives, by its lock."""
        if owner == self.id:
            return True
        return find_process(connection, owner) is not None and self._liveness.is_held(
            connection, owner
        )
