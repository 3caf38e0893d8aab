"""Confinement: a path given by anyone becomes a place inside the project, or is refused.

Links are followed while resolving and never afterwards: a file is opened folder by folder from
the root, and a link that appears in between stops the walk instead of leading it astray.
Callboard's own folder and the version control's are not the project's files.
"""

import errno
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from callboard.tools.errors import FileMissing, PathOutsideProject, Unreadable

RESERVED_FOLDERS: Final = frozenset({".callboard", ".git"})
_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK the opening of a named pipe would wait for a writer forever.
_FILE_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the project: the path as people write it, and the link-free way there."""

    path: str
    parts: tuple[str, ...]


class Confinement:
    """Everything below one folder, and nothing else."""

    def __init__(self, root: Path) -> None:
        """Take the project folder; it may itself be reached through links."""
        self._given_root = os.path.abspath(root)
        self.root = Path(os.path.realpath(root))

    def resolve(self, path: str) -> Place:
        """Return where a path leads, or refuse it."""
        relative = self._relative(path)
        real = Path(os.path.realpath(self.root.joinpath(*relative.parts)))
        if not real.is_relative_to(self.root):
            raise _outside(path, "a link on the way leads out of the project")
        parts = real.relative_to(self.root).parts
        if any(_folded(part) in RESERVED_FOLDERS for part in (*relative.parts, *parts)):
            raise _outside(path, "it lies in a folder that is not open to tools")
        return Place("/".join(relative.parts) or ".", parts)

    def open_folder(self, parts: tuple[str, ...], *, create: bool = False) -> int:
        """Open a folder below the root without following a link; the caller closes it."""
        current = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for part in parts:
            try:
                if create:
                    _make_folder(part, current)
                following = _open_beneath(part, _FOLDER_FLAGS, current, "/".join(parts))
            finally:
                os.close(current)
            current = following
        return current

    def open_file(self, place: Place) -> int:
        """Open a regular file for reading; the caller closes it."""
        if not place.parts:
            raise not_a_file(place.path)
        folder = self.open_folder(place.parts[:-1])
        try:
            return open_regular(place.parts[-1], folder, place.path)
        finally:
            os.close(folder)

    def _relative(self, path: str) -> PurePosixPath:
        try:
            os.fsencode(path)
            path.encode("utf-8")
        except UnicodeEncodeError:
            raise _outside(path, "it is not valid text") from None
        if "\0" in path:
            raise _outside(path, "it contains a null character")
        pure = PurePosixPath(path)
        if ".." in pure.parts:
            raise _outside(path, "it contains '..'")
        if not pure.is_absolute():
            return pure
        for root in (self._given_root, str(self.root)):
            with suppress(ValueError):
                return pure.relative_to(root)
        raise _outside(path, "it is absolute and lies elsewhere")


def open_regular(name: str, folder: int, shown: str) -> int:
    """Open a regular file in an open folder; refuse devices, pipes, sockets and folders."""
    opened = _open_beneath(name, _FILE_FLAGS, folder, shown)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise not_a_file(shown)
    return opened


def not_a_file(path: str) -> Unreadable:
    """Return the error for a folder, device or pipe where a file was expected."""
    return Unreadable(
        f"{path} is not a regular file", fix="Name a file, not a folder or device.", path=path
    )


def _open_beneath(name: str, flags: int, folder: int, shown: str) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP or _is_link(name, folder):
            raise _outside(shown, "a link appeared on the way") from error
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise FileMissing(f"There is no {shown} in the project", path=shown) from error
        reason = os.strerror(error.errno or 0)
        raise Unreadable(f"{shown} cannot be opened: {reason}", path=shown) from error


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _make_folder(name: str, folder: int) -> None:
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
        os.fsync(folder)


def _folded(part: str) -> str:
    # Some file systems ignore case and trailing dots or spaces.
    return part.casefold().rstrip(". ")


def _outside(path: str, why: str) -> PathOutsideProject:
    shown = path.encode("utf-8", "replace").decode()[:200].replace("\0", "\\0")
    return PathOutsideProject(
        f"{shown!r} is not a path in this project: {why}",
        fix="Give a path relative to the project folder, such as Story/one.md.",
        path=shown,
    )
