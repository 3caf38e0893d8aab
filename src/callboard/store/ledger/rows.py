"""Rows as the ledger sees them: a table, a primary key, and a digest of every value.

Knows what a row looks like, not what it means. The digest covers types as well as values, and is
the same whether the values come from a trigger or from reading the table.
"""

from binascii import b2a_base64
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Protocol

from callboard.store.connection import Connection

# A multiple of three, so that base 64 needs no padding.
_DIGEST_BYTES: Final = 15

UNPROTECTED: Final = {
    "ledger": "it protects itself: its entries are chained, signed and countersigned",
    "library_text": "an index of words, made anew from library_passages",
    "library_text_config": "part of that index",
    "library_text_data": "part of that index",
    "library_text_docsize": "part of that index",
    "library_text_idx": "part of that index",
}
"""The tables whose rows no entry speaks of, each with the reason."""

Key = tuple[Any, ...]
Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class TableShape:
    """The columns of a table in order, and which of them are the primary key."""

    name: str
    columns: tuple[str, ...]
    key_positions: tuple[int, ...]
    has_blobs: bool
    # How many columns the key has if it is the beginning of the row, else 0; asked at every write.
    leading_keys: int

    @classmethod
    def of(
        cls, name: str, columns: Sequence[str], key_positions: Sequence[int], has_blobs: bool
    ) -> "TableShape":
        """Return the shape of a table whose primary key stands at these positions."""
        positions = tuple(key_positions)
        leading = len(positions) if positions == tuple(range(len(positions))) else 0
        return cls(name, tuple(columns), positions, has_blobs, leading)

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The names of the primary key's columns."""
        return tuple(self.columns[each] for each in self.key_positions)

    def key(self, values: Values) -> Key:
        """Return the primary key of a row."""
        width = self.leading_keys
        return values[:width] if width else tuple([values[each] for each in self.key_positions])

    def digest(self, values: Values) -> str:
        """Return a short text that no other row has."""
        if self.has_blobs:
            # Long bytes are shortened first: written out as text they would be four times as long.
            values = tuple([_shortened(each) for each in values])
        return _digest(ascii(values).encode())


def _shortened(value: Any) -> Any:
    return ("bytes", len(value), _digest(value)) if isinstance(value, bytes) else value


def _digest(data: bytes) -> str:
    return b2a_base64(sha256(data).digest()[:_DIGEST_BYTES], newline=False).decode()


def is_protected(table: str) -> bool:
    """Say whether the rows of a table stand in the ledger."""
    return table not in UNPROTECTED and not table.startswith("sqlite_")


class LedgerConnection(Connection, Protocol):
    """A connection through which a ledger is read and kept."""

    def protected_tables(self) -> list[str]:
        """Return the names of the tables whose rows stand in the ledger, sorted."""
        ...

    def shape_of(self, table: str, /) -> TableShape:
        """Return the shape of one table."""
        ...

    def arrival(self, table: str, /) -> str:
        """Return by what the rows of a table are sorted to be in the order in which they came."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Write within a transaction of its own, in the line of all writers."""
        ...

    def any_text(self) -> AbstractContextManager[None]:
        """Read text that is none as well, each spoiled byte as a mark of its own."""
        ...


class WatchedRows(LedgerConnection, Protocol):
    """The one connection that writes, noticing every row it changes."""

    def touched(self) -> Mapping[str, Mapping[Key, str | None]]:
        """Return the rows changed since the transaction began, each with its digest."""
        ...

    def forget(self, *, undone: bool = False) -> None:
        """Begin anew, after a commit or with `undone` after a rollback."""
        ...


def quoted(name: str) -> str:
    """Return a name as SQL has it."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def named(table: str, key: Key) -> str:
    """Return a row's name for a reader."""
    return f"{table} {', '.join(str(each) for each in key)}"
