"""Salvage: every row that can still be read of a damaged file, in a new one."""

import contextlib
import sqlite3
from pathlib import Path

from callboard.store.sqlite.database import SqliteDatabase
from callboard.store.sqlite.schema import REBUILD_FULL_TEXT


def salvage(path: Path, target: Path) -> dict[str, int]:
    """Copy every row that can still be read into a new database; return rows per table."""
    fresh = SqliteDatabase.open(target)
    fresh.close()
    source = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    copy = sqlite3.connect(target)
    try:
        source.text_factory = _lenient_text
        tables = [
            row[0]
            for row in copy.execute(
                "SELECT name FROM pragma_table_list"
                " WHERE type = 'table' AND schema = 'main' AND name NOT LIKE 'sqlite_%'"
                " ORDER BY name"
            )
        ]
        kept = {table: _salvage_table(source, copy, table) for table in tables}
        # An index of words is made from the rows that are left, not from its own damaged pages.
        copy.execute(REBUILD_FULL_TEXT)
        copy.commit()
    finally:
        source.close()
        copy.close()
    return kept


def _lenient_text(data: bytes) -> str:
    # A damaged text is better than none.
    return data.decode("utf-8", "replace")


def _salvage_table(source: sqlite3.Connection, copy: sqlite3.Connection, table: str) -> int:
    """Read a table from both ends, so that only what lies in the damaged pages is lost."""
    key = [row for row in copy.execute(f"PRAGMA table_info({table})") if row[5]]
    names = [row[1] for row in sorted(key, key=lambda row: row[5])]
    for direction in ("ASC", "DESC"):
        order = ", ".join(f"{name} {direction}" for name in names)
        # A damaged page ends the reading from this side.
        with contextlib.suppress(sqlite3.DatabaseError):
            for row in source.execute(f"SELECT * FROM {table} ORDER BY {order}"):  # noqa: S608 - names from our own schema
                _keep(copy, table, row)
    return int(copy.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0])  # noqa: S608 - names from our own schema


def _keep(copy: sqlite3.Connection, table: str, row: tuple[object, ...]) -> None:
    marks = ", ".join("?" for _ in row)
    # A row that breaks the rules of its table is damaged itself; the others still count.
    with contextlib.suppress(sqlite3.IntegrityError):
        copy.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", row)  # noqa: S608 - names from our own schema
