"""A sealed database, and somebody who edits it behind its back."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from callboard.store.connection import Connection
from callboard.store.database import Database, Seal
from callboard.store.ledger.rows import is_protected
from stores import open_store

KEY = bytes(range(32))


def seal_for(folder: Path, key: bytes = KEY, key_id: str = "mine") -> Seal:
    return Seal(key, key_id, folder / "user" / "head")


@contextmanager
def opened(folder: Path, seal: Seal | None = None) -> Iterator[Database]:
    database = open_store(folder / "callboard.db", seal=seal or seal_for(folder))
    try:
        yield database
    finally:
        database.close()


def write(database: Database, sql: str, values: Any = ()) -> int:
    def work(connection: Connection) -> int:
        return connection.execute(sql, values).rowcount

    return database.submit(work).result()


@contextmanager
def behind_its_back(folder: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(folder / "callboard.db", isolation_level=None)
    connection.row_factory = sqlite3.Row
    try:
        yield connection
    finally:
        connection.close()


def tables(connection: sqlite3.Connection) -> dict[str, list[Any]]:
    """Return the protected tables with their columns as SQLite tells them.

    Without `meta`: who changes the version of the schema there is refused before anything else.
    """
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")
    return {
        name: connection.execute(f"PRAGMA table_info({name})").fetchall()
        for (name,) in found.fetchall()
        if is_protected(name) and name != "meta"
    }
