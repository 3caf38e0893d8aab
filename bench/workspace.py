"""Folders to measure in: on a real disk, fresh for each measurement, gone afterwards."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

ROOT = Path(__file__).parent / ".work"
_DATA = "CALLBOARD_DATA_DIR"
IN_MEMORY = {"tmpfs", "ramfs"}


@contextmanager
def fresh_folder() -> Iterator[Path]:
    """Yield an empty folder; a commit there must reach a disk.

    What Callboard keeps for its user goes there too, so that no measurement is left behind.
    """
    ROOT.mkdir(exist_ok=True)
    kind = file_system(ROOT)
    if kind in IN_MEMORY:
        raise RuntimeError(f"{ROOT} lies on {kind}: a commit there costs nothing. Use a disk.")
    folder = Path(tempfile.mkdtemp(dir=ROOT))
    before = os.environ.get(_DATA)
    os.environ[_DATA] = str(folder / "data-of-the-user")
    try:
        yield folder
    finally:
        os.environ.pop(_DATA)
        if before is not None:
            os.environ[_DATA] = before
        shutil.rmtree(folder, ignore_errors=True)


def file_system(path: Path) -> str:
    """Return the kind of file system a path lies on."""
    inside = [
        part
        for part in psutil.disk_partitions(all=True)
        if path.resolve().is_relative_to(part.mountpoint)
    ]
    return max(inside, key=lambda part: len(part.mountpoint)).fstype if inside else "unknown"


def stored_bytes(folder: Path) -> int:
    """Return the size of every file below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
