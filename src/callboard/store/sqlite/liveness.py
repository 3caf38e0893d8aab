"""Who is alive, by a locked file per process: the kernel drops the lock when the process dies.

No clock is involved, so a sleeping laptop or a clock set back never makes two owners.
"""

import contextlib
import fcntl
import os
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Final

from callboard.store.connection import Connection, translate_os
from callboard.store.reading import open_folder

# No link and no pipe is ever a lock of ours.
_FLAGS: Final = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class FileLiveness:
    """The locked file of this process, and a look at the others'."""

    def __init__(self, locks: Path) -> None:
        """Take the folder of the files; nothing is locked yet."""
        self._locks = locks
        self._held: tuple[int, Path] | None = None

    def hold(self, owner: str) -> None:
        """Lock the file of a process until `let_go`."""
        path = self._path(owner)
        try:
            os.close(open_folder(self._locks.parent, (self._locks.name,), create=True))
            handle = _lock(path)
        except OSError as error:
            raise translate_os(error, path) from error
        _held_locks().add(handle)
        self._held = (handle, path)

    def tidy(self) -> None:
        """Remove the file of this process, and those of processes that died."""
        if self._held is not None:
            self._held[1].unlink(missing_ok=True)
        for stray in self._locks.glob("*.lock"):
            _remove_unlocked(stray)

    def let_go(self) -> None:
        """Give the lock up."""
        if self._held is not None:
            handle, self._held = self._held[0], None
            _held_locks().discard(handle)
            os.close(handle)

    def is_held(self, _connection: Connection, owner: str) -> bool:
        """Say whether some process holds a lock."""
        return _is_locked(self._path(owner))

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
