"""Who executes a run: each process holds a file lock that the kernel drops when it dies.

No clock is involved, so a sleeping laptop or a clock set back never makes two owners.
"""

import fcntl
import os
import socket
from pathlib import Path

from callboard.core.clock import Clock
from callboard.core.ids import IdMaker
from callboard.store.connection import Connection, translate_os
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
        self._locks = locks
        self._host = socket.gethostname()
        self._record = ProcessRecord(self.id, os.getpid(), self._host, clock.now_ms())
        self._lock_file: int | None = None

    async def register(self) -> None:
        """Take the lock, then tell the database that this process exists."""
        path = self._path(self.id)
        try:
            self._locks.mkdir(parents=True, exist_ok=True)
            self._lock_file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise translate_os(error, path) from error
        fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for buried in await self._database.write(self._enter):
            self._path(buried).unlink(missing_ok=True)

    def _enter(self, connection: Connection) -> list[str]:
        """Store this process, and forget the dead ones that own nothing any more."""
        insert_process(connection, self._record)
        dead = [
            process.id
            for process in list_processes(connection)
            if not self.is_alive(connection, process.id)
        ]
        return [process_id for process_id in dead if forget_process(connection, process_id)]

    async def leave(self) -> None:
        """Give up the identity; runs must have been released before."""
        if self._lock_file is None:
            return
        try:
            await self._database.write(lambda connection: forget_process(connection, self.id))
            self._path(self.id).unlink(missing_ok=True)
        finally:
            # Whatever became of the row, a process that has left must not look alive.
            os.close(self._lock_file)
            self._lock_file = None

    def is_alive(self, connection: Connection, owner: str) -> bool:
        """Say whether a run's owner still lives; one on another machine is taken to."""
        if owner == self.id:
            return True
        process = find_process(connection, owner)
        if process is None:
            return False
        if process.host != self._host:
            return True
        return _is_locked(self._path(owner))

    def _path(self, owner: str) -> Path:
        return self._locks / f"{owner}.lock"


def _is_locked(path: Path) -> bool:
    try:
        lock_file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        # Shared, so that two processes that look at the same time do not see each other.
        fcntl.flock(lock_file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(lock_file)
