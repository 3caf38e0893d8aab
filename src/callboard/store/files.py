"""Writing files so that a crash leaves the old one or the new one, never half of one."""

import fcntl
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_UNFINISHED: Final = ".unfinished"


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file's content in one step."""
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


@contextmanager
def locked_folder(folder: Path) -> Generator[None]:
    """Make a folder if need be and hold it against everybody else who does the same.

    What a killed holder left half-written in it is removed first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        for name in os.listdir(handle):
            if name.startswith(".") and name.endswith(_UNFINISHED):
                (folder / name).unlink(missing_ok=True)
        yield
    finally:
        os.close(handle)


def read_whole_lines(path: Path) -> list[str]:
    """Return the complete lines of a file; a torn last line is left out."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    end = data.rfind(b"\n") + 1
    # Only a line feed ends a line: JSON text may hold what `splitlines` takes for one.
    return data[:end].decode("utf-8", "replace").split("\n")[:-1]
