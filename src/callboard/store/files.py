"""Writing files so that a crash leaves the old one or the new one, never half of one.

With `within`, a folder of Callboard's own, no link at or below it is followed.
"""

import contextlib
import fcntl
import os
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from callboard.store.connection import translate_os
from callboard.store.pending import prepared
from callboard.store.reading import (
    FileRefused,
    Refusal,
    naming_links,
    open_beneath,
    open_folder,
    opened_folder,
    read_bounded,
)

_UNFINISHED: Final = ".unfinished"
_LARGEST_BYTES: Final = 1 << 28
_PRIVATE: Final = 0o600
_TAIL_BYTES: Final = 16_384


def write_atomically(
    path: Path, data: bytes, *, within: Path | None = None, kept: Path | None = None
) -> None:
    """Replace a file's content in one step.

    With `kept`, Callboard's own folder, `within` is somebody else's, and the file is for others to
    read too.
    """
    if within is None:
        _write_beside(path, data)
        return
    with (
        naming_links(path),
        opened_folder(within, path.parent, create=True) as folder,
        prepared(kept or within, path.parent, folder, data, None if kept else _PRIVATE) as name,
    ):
        os.rename(name, path.name, src_dir_fd=folder, dst_dir_fd=folder)


@contextmanager
def telling_refusals(path: Path) -> Generator[None]:
    """Tell a folder or a disk that takes no write as what it is, with a way out."""
    try:
        yield
    except OSError as error:
        raise translate_os(error, path) from error


def _write_beside(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=_UNFINISHED)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_new(path: Path, data: bytes, *, within: Path, kept: Path) -> bool:
    """Write a file for others to read unless something of its name is there; say whether it was.

    `within` is the folder it must lie in, `kept` the one of Callboard's own.
    """
    with naming_links(path), opened_folder(within, path.parent, create=True) as folder:
        try:
            os.stat(path.name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            with prepared(kept, path.parent, folder, data) as name:
                os.rename(name, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
            return True
    return False


def append_durably(path: Path, data: bytes, *, within: Path) -> None:
    """Add to the end of a regular file, made if need be."""
    with naming_links(path), opened_folder(within, path.parent, create=True) as folder:
        handle = open_for_writing(path, folder, os.O_WRONLY | os.O_APPEND)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
        finally:
            os.close(handle)


def open_emptied(path: Path, *, within: Path) -> int:
    """Open a regular file to write it anew; the caller closes it."""
    with naming_links(path), opened_folder(within, path.parent, create=True) as folder:
        return open_for_writing(path, folder, os.O_WRONLY | os.O_TRUNC)


def open_for_writing(path: Path, folder: int, flags: int) -> int:
    """Open a regular file in its open folder to write to it, made if need be."""
    # Without O_NONBLOCK a pipe in its place would wait for a reader.
    handle = open_beneath(path.name, flags | os.O_CREAT | os.O_NONBLOCK, folder, _PRIVATE)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise FileRefused(path, Refusal.NOT_REGULAR, "is not a regular file")
    return handle


@contextmanager
def locked_folder(folder: Path, *, within: Path | None = None) -> Generator[None]:
    """Make a folder if need be and hold it against everybody else who does the same.

    What a killed holder left half-written in it is removed first.
    """
    if within is None:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    else:
        with naming_links(folder):
            handle = open_folder(within, folder.relative_to(within).parts, create=True)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        for name in os.listdir(handle):
            if name.startswith(".") and name.endswith(_UNFINISHED):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=handle)
        yield
    finally:
        os.close(handle)


def read_whole_lines(
    path: Path, *, limit_bytes: int = _LARGEST_BYTES, within: Path | None = None
) -> list[str]:
    """Return the complete lines of a file; a torn last line is left out."""
    try:
        data = read_bounded(
            path, limit_bytes=limit_bytes, within=within, follow_links=within is None
        )
    except FileNotFoundError:
        return []
    end = data.rfind(b"\n") + 1
    # Only a line feed ends a line: JSON text may hold what `splitlines` takes for one.
    return data[:end].decode("utf-8", "replace").split("\n")[:-1]


def read_last_line(path: Path) -> str:
    """Return the last complete line of a regular file, without reading what comes before it.

    What is not there, is a link, or cannot be read has none.
    """
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        found = os.fstat(opened)
        start = found.st_size if stat.S_ISREG(found.st_mode) else 0
        data = b""
        while start > 0 and data[:-1].count(b"\n") < 2 and len(data) < _LARGEST_BYTES:
            begin = max(0, start - _TAIL_BYTES)
            data = os.pread(opened, start - begin, begin) + data
            start = begin
    finally:
        os.close(opened)
    whole = data[: data.rfind(b"\n") + 1].split(b"\n")[:-1]
    return whole[-1].decode("utf-8", "replace") if whole else ""
