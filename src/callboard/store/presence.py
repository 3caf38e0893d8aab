"""Presence: a database that is gone is told apart from one that has never been.

SQLite makes a new file where none is, and throws away the log of one that is missing; a server may
have been replaced by an empty one. So whoever opens a project looks first for what is left of an
earlier database.
"""

from collections.abc import Sequence
from pathlib import Path

from callboard.core.errors import ErrorTier
from callboard.store.connection import StoreError
from callboard.store.ledger.book import read_head
from callboard.store.ledger.entries import Seal


class DatabaseMissing(StoreError):
    """There was a database, and it is not there."""

    code = "database_missing"
    tier = ErrorTier.USER_FIXABLE


def traces_of(path: Path, seal: Seal | None, mirrors: Sequence[Path]) -> list[str]:
    """Return what is known of a database that is not there; nothing if it is there or never was."""
    if _size(path):
        return []
    # What is left is looked at before the file is, again: whoever makes a new one makes the file
    # first.
    told = _told_by(seal, mirrors)
    log = path.with_name(f"{path.name}-wal")
    if _size(log):
        told.append(f"{log.name} is left of it")
    return [] if _size(path) else told


def refuse_missing(path: Path, seal: Seal | None, mirrors: Sequence[Path]) -> None:
    """Refuse to make a new database where an old file is missing."""
    _refuse(str(path), traces_of(path, seal, mirrors))


def refuse_gone(place: str, seal: Seal | None, mirrors: Sequence[Path]) -> None:
    """Refuse to make a new database on a server where none is, if there was one."""
    _refuse(place, _told_by(seal, mirrors))


def _told_by(seal: Seal | None, mirrors: Sequence[Path]) -> list[str]:
    """Return what the user's own data and the mirrors know of a database."""
    told: list[str] = []
    head = None if seal is None else read_head(seal)
    if head is not None and head.tail is not None:
        told.append(f"{head.tail.seq} entries of its ledger were countersigned")
    elif head is not None and head.is_damaged:
        told.append("a head that cannot be read lies in your data folder")
    for folder in mirrors:
        count = sum(1 for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else 0
        if count:
            told.append(f"{folder} holds {count} of its mirrors")
    return told


def _refuse(place: str, told: list[str]) -> None:
    if told:
        raise DatabaseMissing(
            f"The database {place} is gone, but there was one: {'; '.join(told)}",
            fix=(
                "Put it back from a backup. If it is lost, `callboard doctor --accept` moves what"
                " is left of it into the backups and begins anew."
            ),
            path=place,
            known=told,
        )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0
