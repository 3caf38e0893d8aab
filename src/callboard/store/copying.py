"""Copying a database from one store to another: every row as it is, the ledger with them.

Nothing is signed anew and nothing left out, so that whatever could be proven before can be after.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from callboard.core.errors import CallboardError
from callboard.store.connection import Connection
from callboard.store.ledger.rows import LedgerConnection, quoted

_AT_ONCE: Final = 1_000
Progress = Callable[[str, int], None]
"""Is told a table and how many of its rows are copied."""


class CopyDiffers(CallboardError):
    """A copy does not hold what its source holds; the source stays in use."""

    code = "copy_differs"


@dataclass(frozen=True, slots=True)
class CopyReport:
    """How many rows each table holds."""

    rows: dict[str, int]

    @property
    def total(self) -> int:
        """How many rows there are in all."""
        return sum(self.rows.values())


def count_rows(connection: Connection) -> CopyReport:
    """Count the rows of every table that is copied."""
    return CopyReport({table: _count(connection, table) for table, _ in _tables()})


def copy_rows(source: LedgerConnection, target: Connection, progress: Progress) -> CopyReport:
    """Copy every row into the empty tables of a target, within the transactions of the caller.

    `source` must be held against writers. A copy that holds more or less is refused.
    """
    target.execute("DELETE FROM meta")
    for table, columns in _tables():
        names, marks = ", ".join(map(quoted, columns)), ", ".join("?" for _ in columns)
        insert = f"INSERT INTO {quoted(table)} ({names}) VALUES ({marks})"  # noqa: S608 - names of our own schema
        copied = 0
        for rows in _chunks(source, table, names):
            target.executemany(insert, rows)
            copied += len(rows)
            progress(table, copied)
    there, here = count_rows(target), count_rows(source)
    for table, count in here.rows.items():
        if there.rows[table] != count:
            raise CopyDiffers(
                f"{table} holds {count} rows, its copy {there.rows[table]}",
                fix="Nothing was changed; try again, and tell the maintainers if it stays so.",
            )
    return there


def _chunks(source: LedgerConnection, table: str, names: str) -> Iterator[list[tuple[Any, ...]]]:
    # In the order in which they came: a run's parent is there before it, and what is listed in
    # this order stays so.
    order = source.arrival(table)
    rows = iter(source.execute(f"SELECT {names} FROM {quoted(table)} ORDER BY {order}"))  # noqa: S608 - names of our own schema
    while some := [tuple(row) for row in islice(rows, _AT_ONCE)]:
        yield some


def _count(connection: Connection, table: str) -> int:
    return int(connection.execute(f"SELECT COUNT(*) FROM {quoted(table)}").fetchone()[0])  # noqa: S608 - names of our own schema


def _tables() -> list[tuple[str, list[str]]]:
    """Return the tables with their columns, each after those it refers to."""
    from callboard.store.schema import metadata

    return [
        (each.name, [column.name for column in each.columns]) for each in metadata.sorted_tables
    ]
