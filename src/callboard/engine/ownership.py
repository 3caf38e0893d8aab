"""Who executes a run: each process holds a file lock that the kernel drops when it dies.

No clock is involved, so a sleeping laptop or a clock set back never makes two owners. The host name
is for the reader only: a container has a new one each time, and the lock still tells.
"""

import contextlib
import fcntl
import os
import socket
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Final

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
from callboard.store.reading import open_folder

# No link and no pipe is ever a lock of ours.
_FLAGS: Final = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Ownership:
    """This process as an owner of runs, and its view of the others."""

    def __init__(self, database: Database, locks: Path, ids: IdMaker, clock: Clock) -> None:
        """Prepare an identity; nothing is locked before `register`."""
        self.id = ids.make("process")
        self._database = database
        self._locks = locks
        self._record = ProcessRecord(self.id, os.getpid(), socket.gethostname(), clock.now_ms())
        self._lock_file: int | None = None

    async def register(self) -> None:
        """Take the lock, then tell the database that this process exists."""
        path = self._path(self.id)
        try:
            os.close(open_folder(self._locks.parent, (self._locks.name,), create=True))
            self._lock_file = _lock(path)
            _held_locks().add(self._lock_file)
        except OSError as error:
            raise translate_os(error, path) from error
        await self._database.write(lambda connection: insert_process(connection, self._record))

    async def leave(self) -> None:
        """Give up the identity; runs must have been released before."""
        if self._lock_file is None:
            return
        try:
            await self._database.write(self._leave)
            self._path(self.id).unlink(missing_ok=True)
            for stray in self._locks.glob("*.lock"):
                _remove_unlocked(stray)
        finally:
            # Whatever became of the row, a process that has left must not look alive.
            _held_locks().discard(self._lock_file)
            os.close(self._lock_file)
            self._lock_file = None

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
        return find_process(connection, owner) is not None and _is_locked(self._path(owner))

    def _path(self, owner: str) -> Path:
        return self._locks / f"{owner}.lock"


@cache
def _held_locks() -> set[int]:
    """Return the locks this process holds; a child that a tool forks lets go of them at once.

    A lock belongs to everybody who has the open file: a child would keep a dead owner alive.
    """
    held: set[int] = set()

    def let_go() -> None:
        for handle in held:
            with contextlib.suppress(OSError):
                os.close(handle)
        held.clear()

    os.register_at_fork(after_in_child=let_go)
    return held


def _lock(path: Path) -> int:
    while True:
        handle = os.open(path, _FLAGS | os.O_CREAT, 0o600)
        # Waits at most for somebody who is looking whether the file is a stray one.
        fcntl.flock(handle, fcntl.LOCK_EX)
        if _is_at(handle, path):
            return handle
        os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False


def _is_locked(path: Path) -> bool:
    try:
        with _unlocked(path):
            return False
    except FileNotFoundError:
        return False
    except (BlockingIOError, PermissionError):
        # Another user's lock cannot be tried: who made it is taken to live.
        return True


def _remove_unlocked(path: Path) -> None:
    """Remove the lock file of a process that died, and only of such a one."""
    with contextlib.suppress(FileNotFoundError, BlockingIOError, PermissionError), _unlocked(path):
        path.unlink()


@contextlib.contextmanager
def _unlocked(path: Path) -> Generator[None]:
    """Hold a file that nobody has locked; a locked one is a BlockingIOError."""
    handle = os.open(path, _FLAGS)
    try:
        # Shared, so that two processes that look at the same time do not see each other.
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)
