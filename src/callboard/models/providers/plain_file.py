"""Files behind models, opened so that nobody else decides which file that is.

A regular file of bounded size. No link is followed in the last step, nor in any step below the
folders a stranger may have filled: the project and the folder one stands in.
"""

import errno
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from callboard.core.errors import CallboardError, ErrorTier
from callboard.store.reading import open_beneath, open_folder

_LINKED: Final = (errno.ELOOP, errno.ENOTDIR)


class FileUnusable(CallboardError):
    """A file that a model id names cannot be used as one."""

    code = "model_file_unusable"
    tier = ErrorTier.USER_FIXABLE


def read_plain(path: Path, *, most_bytes: int, below: Sequence[Path] = ()) -> bytes:
    """Return all of a file; a missing one is `FileNotFoundError`, any other trouble is named."""
    with open_plain(path, os.O_RDONLY, below=below) as file:
        refuse_large(file, path, most_bytes)
        # One byte more than allowed: a file that grows meanwhile is not read for ever.
        data = file.read(most_bytes + 1)
        if len(data) > most_bytes:
            raise _too_large(path, most_bytes)
        return data


@contextmanager
def open_plain(path: Path, flags: int, *, below: Sequence[Path] = ()) -> Generator[BinaryIO]:
    """Open a regular file without following links in its name, or below one of the folders.

    With `O_CREAT` among the flags, missing folders are made as well.
    """
    # What is opened is what is looked at: `..` is taken out before, not by the system.
    target = Path(os.path.normpath(path.absolute()))
    try:
        handle = _open(target, flags, below)
    except (FileNotFoundError, CallboardError):
        raise
    except OSError as error:
        if error.errno in _LINKED:
            raise FileUnusable(
                f"{path} is a link, or a step of the way to it is a link or no folder",
                fix="Name the file itself.",
                path=str(path),
            ) from error
        raise FileUnusable(
            f"{path} cannot be opened: {error.strerror or error}",
            fix="Name a file in a folder you may write to.",
            path=str(path),
        ) from error
    mode = "rb" if flags & os.O_ACCMODE == os.O_RDONLY else "r+b"
    with os.fdopen(handle, mode) as file:
        yield file


def refuse_large(file: BinaryIO, path: Path, most_bytes: int) -> None:
    """Raise for a file that is larger than anything it could be."""
    if os.fstat(file.fileno()).st_size > most_bytes:
        raise _too_large(path, most_bytes)


def _open(target: Path, flags: int, below: Sequence[Path]) -> int:
    top = next((each for each in below if each in target.parents), target.parent)
    steps = target.relative_to(top).parts[:-1]
    # How one comes to the first folder is the user's own business.
    folder = open_folder(Path(os.path.realpath(top)), steps, create=bool(flags & os.O_CREAT))
    try:
        # Not blocking: opening a pipe nobody writes to would never return.
        handle = open_beneath(target.name, flags | os.O_NONBLOCK, folder, 0o644)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise FileUnusable(
            f"{target} is not a regular file", fix="Name a file, no device, pipe or folder."
        )
    return handle


def _too_large(path: Path, most_bytes: int) -> FileUnusable:
    return FileUnusable(
        f"{path} is larger than {most_bytes // 1_000_000} MB, the most a model's file may be",
        fix="Name another file, or split this one.",
        path=str(path),
    )
