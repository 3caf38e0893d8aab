"""Reading a file that somebody else may have put there: one regular file, no further than a limit.

Every file that a project brings, or that lies in a folder of the user's, is read through here. A
pipe would make a command wait for ever and a device would fill the memory; both are refused before
they are opened. Nothing is decoded or parsed here.

A path that was checked and then opened as a whole may lead elsewhere by the time it is opened. So
every name can be opened in the folder opened before it, never through a link: one that appears
later stops the walk.
"""

import errno
import os
import stat
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Final

from callboard.core.errors import CallboardError, ErrorTier

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


_CHUNK_BYTES: Final = 1 << 18
# Without O_NONBLOCK the opening of a pipe that took the file's place would wait for a writer.
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK
_KINDS: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class Refusal(StrEnum):
    """Why a file is not read."""

    LINK = "link"
    NOT_REGULAR = "not_regular"
    TOO_LARGE = "too_large"
    CLOSED = "closed"


class FileRefused(CallboardError):
    """A file is there and is not read; `reason` goes on after its name."""

    code = "file_refused"
    tier = ErrorTier.USER_FIXABLE

    def __init__(self, path: Path | str, why: Refusal, reason: str) -> None:
        """Take the file, and why it is refused as a class and in words."""
        shown = os.fsencode(path).decode("utf-8", "replace")
        super().__init__(f"{shown} {reason}", fix=_WAYS_OUT[why], path=shown)
        self.why = why
        self.reason = reason


_WAYS_OUT: Final = {
    Refusal.LINK: "Put the file itself in the place of the link.",
    Refusal.NOT_REGULAR: "Put a file there, or move it away.",
    Refusal.TOO_LARGE: "Make it smaller, or move it away.",
    Refusal.CLOSED: "Make yourself its owner, with permission to read it.",
}


def read_bounded(
    path: Path, *, limit_bytes: int, within: Path | None = None, follow_links: bool = True
) -> bytes:
    """Return all of a regular file; none there is `FileNotFoundError`, all else `FileRefused`.

    With `within`, links are followed only as far as they stay in that folder; without
    `follow_links`, not at all.
    """
    return drain(
        open_bounded(path, within=within, follow_links=follow_links), path, limit_bytes=limit_bytes
    )


def open_bounded(path: Path, *, within: Path | None = None, follow_links: bool = True) -> int:
    """Open a regular file to read it in parts; the caller closes it and bounds what it reads."""
    root, target = _way(path, within, follow_links=follow_links)
    try:
        with opened_folder(root, target.parent) as folder:
            return open_regular(target.name, folder, path)
    except NotADirectoryError as error:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path)) from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise refused(error, path) from error


def open_regular(name: str, folder: int, shown: Path | str) -> int:
    """Open a regular file in an open folder; devices, pipes, sockets, folders, links are refused.

    None there is `FileNotFoundError`.
    """
    _refuse_special(os.stat(name, dir_fd=folder, follow_symlinks=False), shown)
    try:
        opened = open_beneath(name, _FLAGS, folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise refused(error, shown) from error
    try:
        # It may have been replaced since it was looked at.
        _refuse_special(os.fstat(opened), shown)
    except FileRefused:
        os.close(opened)
        raise
    return opened


def drain(opened: int, shown: Path | str, *, limit_bytes: int) -> bytes:
    """Read an open file to its end, refuse it if it is longer than allowed, and close it."""
    try:
        size = os.fstat(opened).st_size
        if size > limit_bytes:
            raise _too_large(shown, limit_bytes)
        held = bytearray()
        # The size is what it was: a file that grows is noticed by what is read of it.
        while part := os.read(opened, min(_CHUNK_BYTES, limit_bytes + 1 - len(held))):
            held += part
            if len(held) > limit_bytes:
                raise _too_large(shown, limit_bytes)
        return bytes(held)
    except OSError as error:
        raise refused(error, shown) from error
    finally:
        os.close(opened)


def lines_bounded(
    path: Path, *, limit_bytes: int, within: Path | None = None, follow_links: bool = True
) -> Iterator[bytes]:
    """Go through the lines of a file of any length; no line may be longer than the limit."""
    with os.fdopen(open_bounded(path, within=within, follow_links=follow_links), "rb") as stream:
        while line := stream.readline(limit_bytes + 1):
            if len(line) > limit_bytes:
                raise _too_large(path, limit_bytes, "has a line of more than")
            yield line


def refused(error: OSError, shown: Path | str) -> FileRefused:
    """Return what the system said about a file as an error that names it."""
    if error.errno == errno.ELOOP:
        return FileRefused(
            shown, Refusal.LINK, "is a link, or lies behind one, that is not followed"
        )
    reason = os.strerror(error.errno or 0)
    return FileRefused(shown, Refusal.CLOSED, f"cannot be read: {reason}")


@contextmanager
def naming_links(path: Path) -> Generator[None]:
    """Name the file when what lies there keeps it from being written; all else is the system's."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise refused(error, path) from error
        if error.errno in (errno.ENOTDIR, errno.EISDIR, errno.ENXIO):
            reason = "cannot be written: something else lies there or on the way"
            raise FileRefused(path, Refusal.NOT_REGULAR, reason) from error
        raise


def kind_of(mode: int) -> str:
    """Return in words what lies somewhere, by its mode."""
    return next((name for is_it, name in _KINDS if is_it(mode)), "a file")


def _way(path: Path, within: Path | None, *, follow_links: bool) -> tuple[Path, Path]:
    """Return the folder to start from and the file, between which no link is followed."""
    if within is not None and not follow_links:
        return within, path
    try:
        target = Path(os.path.realpath(path))
    except OSError as error:
        # A link that became a file between two looks at it.
        raise FileRefused(path, Refusal.LINK, "changed while it was looked at") from error
    if within is None:
        return target.parent, target
    root = Path(os.path.realpath(within))
    if not target.is_relative_to(root):
        raise FileRefused(path, Refusal.LINK, f"is a link that leads out of {within}")
    return root, target


def _refuse_special(status: os.stat_result, shown: Path | str) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    kind = kind_of(status.st_mode)
    why = Refusal.LINK if stat.S_ISLNK(status.st_mode) else Refusal.NOT_REGULAR
    raise FileRefused(shown, why, f"is {kind}, not a regular file")


def _too_large(shown: Path | str, limit_bytes: int, what: str = "is larger than") -> FileRefused:
    return FileRefused(shown, Refusal.TOO_LARGE, f"{what} {limit_bytes} bytes")
