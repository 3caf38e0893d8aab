"""What every store offers a unit of work, and the failures a user is told of."""

import errno
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from callboard.core.errors import CallboardError, ErrorTier

Params = Mapping[str, Any] | Sequence[Any]


class Cursor(Protocol):
    """What a statement gave back."""

    @property
    def rowcount(self) -> int:
        """How many rows the statement changed."""
        ...

    def fetchone(self) -> Any:
        """Return the next row as a mapping by column name, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """Return all remaining rows."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Go through the remaining rows."""
        ...


class Connection(Protocol):
    """An open transaction: portable SQL with `:name` or `?` parameters in, mappings out."""

    def execute(self, sql: str, parameters: Params = ..., /) -> Cursor:
        """Run one statement."""
        ...

    def executemany(self, sql: str, parameters: Any, /) -> Cursor:
        """Run one statement for many parameter sets."""
        ...


class Durability(StrEnum):
    """What a finished commit survives."""

    FULL = "full"
    NORMAL = "normal"


class StoreError(CallboardError):
    """The database could not do what was asked."""

    code = "store_error"


class DiskFull(StoreError):
    """There is no room left for the database."""

    code = "disk_full"
    tier = ErrorTier.USER_FIXABLE


class StoreReadOnly(StoreError):
    """The project cannot be written to."""

    code = "read_only"
    tier = ErrorTier.USER_FIXABLE


class StoreCorrupt(StoreError):
    """The database file is damaged."""

    code = "database_corrupt"


class UnknownObjects(StoreError):
    """A database holds what Callboard has not put there."""

    code = "unknown_objects"
    tier = ErrorTier.USER_FIXABLE


class StoreBusy(StoreError):
    """Another process held the database for too long."""

    code = "database_busy"
    tier = ErrorTier.TRANSIENT


class RuleBroken(CallboardError):
    """A write would have broken a rule of the database: wrong data, not a broken disk."""

    code = "rule_broken"


def translate_os(error: OSError, path: Path) -> StoreError:
    """Say what a failure of the file system means for the user and what they can do."""
    told = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(
            f"No space left while writing {path}", fix="Free some disk space.", path=str(path)
        )
    return StoreReadOnly(
        f"Cannot write {path}: {told}",
        fix=f"Give yourself write permission for {path.parent}, or copy the project.",
        path=str(path),
    )
