"""Presence: a database that is gone is told apart from one that has never been.

SQLite makes a new file where none is, and throws away the log of one that is missing. So whoever
opens a project looks first for what is left of an earlier database.
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
    told: list[str] = []
    head = None if seal is None else read_head(seal)
    if head is not None and head.tail is not None:
        told.append(f"{head.tail.seq} entries of its ledger were countersigned")
    elif head is not None and head.is_damaged:
        told.append("a head that cannot be read lies in your data folder")
    log = path.with_name(f"{path.name}-wal")
    if _size(log):
        told.append(f"{log.name} is left of it")
    for folder in mirrors:
        count = sum(1 for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else 0
        if count:
            told.append(f"{folder} holds {count} of its mirrors")
    return [] if _size(path) else told


def refuse_missing(path: Path, seal: Seal | None, mirrors: Sequence[Path]) -> None:
    """Refuse to make a new database where an old one is missing."""
    told = traces_of(path, seal, mirrors)
    if told:
        raise DatabaseMissing(
            f"The database {path} is gone, but there was one: {'; '.join(told)}",
            fix=(
                "Put it back from a backup. If it is lost, `callboard doctor --accept` moves what"
                " is left of it into the backups and begins anew."
            ),
            path=str(path),
            known=told,
        )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0
