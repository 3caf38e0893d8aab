"""Rows as the ledger sees them: a table, a primary key, and a digest of every value.

Knows what a row looks like, not what it means. The digest covers types as well as values, and is
the same whether the values come from a trigger or from reading the table.
"""

import sqlite3
from binascii import b2a_base64
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

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


def shape_of(connection: sqlite3.Connection, table: str) -> TableShape:
    """Return the shape of one table."""
    columns: list[str] = []
    keys: list[tuple[int, int]] = []
    has_blobs = False
    for row in connection.execute("SELECT name, type, pk FROM pragma_table_info(?)", (table,)):
        if row[2]:
            keys.append((row[2], len(columns)))
        has_blobs = has_blobs or row[1] == "BLOB"
        columns.append(row[0])
    positions = tuple(at for _, at in sorted(keys))
    leading = len(positions) if positions == tuple(range(len(positions))) else 0
    return TableShape(table, tuple(columns), positions, has_blobs, leading)


def protected_tables(connection: sqlite3.Connection) -> list[str]:
    """Return the names of the tables whose rows stand in the ledger, sorted."""
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    return [row[0] for row in rows if is_protected(row[0])]


def quoted(name: str) -> str:
    """Return a name as SQL has it."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def row_digest(connection: sqlite3.Connection, shape: TableShape, key: Key) -> str | None:
    """Return the digest of a row as it is now, or None if there is no such row."""
    columns = ", ".join(map(quoted, shape.columns))
    where = " AND ".join(f"{quoted(name)} IS ?" for name in shape.key_columns)
    sql = f"SELECT {columns} FROM {quoted(shape.name)} WHERE {where}"  # noqa: S608 - names of our own schema
    row = connection.execute(sql, key).fetchone()
    return None if row is None else shape.digest(tuple(row))


def named(table: str, key: Key) -> str:
    """Return a row's name for a reader."""
    return f"{table} {', '.join(str(each) for each in key)}"
