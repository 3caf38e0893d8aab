"""Baselines: entries that list every row as it is, where there is nothing before to rely on.

A new database begins with one, one without a ledger is adopted by one, a change of the schema ends
with one, and so does the user's word that what is there shall count.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from callboard.store.ledger.book import Head, HeadFile, read_head
from callboard.store.ledger.entries import (
    BaselineReason,
    EntryKind,
    Seal,
    Tail,
    append_entry,
    rows_content,
    tail_of,
)
from callboard.store.ledger.rows import Key, LedgerConnection, TableShape, quoted

_ROWS_PER_ENTRY: Final = 2_000


def write_baseline(
    connection: LedgerConnection,
    seal: Seal,
    at: int,
    reason: BaselineReason,
    detail: Mapping[str, Any] | None = None,
) -> Tail:
    """List every row within the caller's transaction and return the new end of the chain."""
    tail, known = tail_of(connection), read_head(seal).tail
    # Numbers never come twice: what the head still knows of keeps its own.
    seq = max(tail.seq, known.seq if known is not None else 0) + 1
    kind, content = EntryKind.BASELINE, {**(detail or {}), "reason": reason.value}
    for rows in _chunks(connection):
        content |= rows_content(rows)
        tail = append_entry(connection, seal, at, kind, content, previous=tail, seq=seq)
        kind, content, seq = EntryKind.WRITE, {}, tail.seq + 1
    return tail


def adopt(connection: LedgerConnection, seal: Seal, at: int) -> None:
    """Begin a ledger for a database that has none, unless a head says that there was one."""
    if tail_of(connection).seq or read_head(seal) != Head():
        return
    with connection.transaction():
        tail = tail_of(connection)
        if not tail.seq:
            tail = write_baseline(connection, seal, at, BaselineReason.ADOPTED)
    publish(seal, tail)


def accept_rows(connection: LedgerConnection, seal: Seal, at: int, flaws: int) -> Tail:
    """Have every row count as it is, on the user's word."""
    with connection.transaction():
        return write_baseline(connection, seal, at, BaselineReason.ACCEPTED, {"flaws": flaws})


def publish(seal: Seal, tail: Tail) -> None:
    """Countersign an end of the chain that is committed."""
    head = HeadFile(seal)
    try:
        head.publish(tail)
    finally:
        head.close()


def read_rows(connection: LedgerConnection, shape: TableShape) -> Iterator[tuple[Any, ...]]:
    """Go through the rows of a table."""
    columns = ", ".join(map(quoted, shape.columns))
    for row in connection.execute(f"SELECT {columns} FROM {quoted(shape.name)}"):  # noqa: S608 - names of our own schema
        yield tuple(row)


def _chunks(connection: LedgerConnection) -> Iterator[dict[str, dict[Key, str | None]]]:
    """Give every row in parts of bounded size, an empty last one at the least."""
    rows: dict[str, dict[Key, str | None]] = {}
    count = 0
    with connection.any_text():
        for table in connection.protected_tables():
            shape = connection.shape_of(table)
            for values in read_rows(connection, shape):
                rows.setdefault(table, {})[shape.key(values)] = shape.digest(values)
                count += 1
                if count % _ROWS_PER_ENTRY == 0:
                    yield rows
                    rows = {}
    if rows or count == 0:
        yield rows
