"""Going down from a folder, name by name, never through a link. Opens; reads and writes nothing.

A path that was checked and then opened as a whole may lead elsewhere by the time it is opened. Here
every name is opened in the folder opened before it, so a link that appears later stops the walk.
"""

import errno
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY
# Passing through a folder needs no permission to list it, where the system can tell them apart.
_PASSING_FLAGS: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY


def open_beneath(name: str, flags: int, folder: int | None, mode: int = 0o600) -> int:
    """Open a name in an open folder; a link is an `OSError` with `ELOOP`, whatever it leads to."""
    try:
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)
    except OSError as error:
        # The system calls a link where a folder is wanted "not a directory".
        if error.errno != errno.ELOOP and _is_link(name, folder):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from error
        raise


def open_folder(root: Path, parts: Sequence[str] = (), *, create: bool = False) -> int:
    """Open a folder below another one; the caller closes it.

    The way to `root` is the caller's and may lead through links; `root` itself and all below may
    not. Without `create` it is opened to pass through, not to be listed or locked.
    """
    flags = _FOLDER_FLAGS if create else _PASSING_FLAGS
    if create:
        root.mkdir(parents=True, exist_ok=True)
    current = open_beneath(str(root), flags, None)
    for name in parts:
        try:
            if name == "..":
                raise OSError(errno.ELOOP, "leads upwards", name)
            if create:
                _make_folder(name, current)
            following = open_beneath(name, flags, current)
        finally:
            os.close(current)
        current = following
    return current


@contextmanager
def opened_folder(root: Path, folder: Path, *, create: bool = False) -> Generator[int]:
    """Hold a folder at or below `root` open."""
    opened = open_folder(root, folder.relative_to(root).parts, create=create)
    try:
        yield opened
    finally:
        os.close(opened)


def _make_folder(name: str, folder: int) -> None:
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
        os.fsync(folder)


def _is_link(name: str, folder: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False
