"""Marks: how a pack's own database in a project is known to have been made here.

A number that nobody else knows stands in the file's header and among the user's own data. A file
that somebody laid in its place, by a pull for example, does not carry it.
"""

import secrets
import sqlite3
from pathlib import Path
from typing import Final

from callboard.store.files import write_atomically
from callboard.store.reading import FileRefused, read_bounded
from callboard.studio.project import Project

_LARGEST_MARK: Final = 2**31 - 1
_HEADER_BYTES: Final = 100
_MOST_BYTES: Final = 64


def is_marked(project: Project, name: str) -> bool:
    """Say whether a database that lies in a project was made here."""
    mark = _known(project, name)
    return mark is not None and _in_file(project.folder / name) == mark


def mark(project: Project, name: str) -> None:
    """Make a database known as made here, and make the file if there is none."""
    # Remembered first: a file without its mark would be a stranger's.
    known = _known(project, name)
    if known is None:
        known = secrets.randbelow(_LARGEST_MARK) + 1
        write_atomically(_place(project, name), str(known).encode())
    connection = sqlite3.connect(project.folder / name)
    try:
        connection.execute(f"PRAGMA application_id = {known:d}")
    finally:
        connection.close()


def _place(project: Project, name: str) -> Path:
    return project.standing.identity / f"{name}.mark"


def _known(project: Project, name: str) -> int | None:
    try:
        return int(read_bounded(_place(project, name), limit_bytes=_MOST_BYTES))
    except (FileNotFoundError, FileRefused, ValueError):
        return None


def _in_file(path: Path) -> int | None:
    """Return the mark in a database as a reader sees it: a file that was just changed has a log."""
    if not path.is_file() or path.stat().st_size < _HEADER_BYTES:
        return None
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        return int(connection.execute("PRAGMA application_id").fetchone()[0])
    except sqlite3.Error:
        return None
    finally:
        connection.close()
