"""Both stores behind one door: with the fixture `store`, a test runs on a file and on a server."""

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.store.database import Database
from callboard.store.postgres.address import StoreAddress
from callboard.store.postgres.database import PostgresDatabase
from callboard.store.sqlite.database import SqliteDatabase

URL = "CALLBOARD_STORE_URL"
ON_A_FILE = pytest.mark.parametrize("store", ["sqlite"], indirect=True)
"""For a test of what only a file can suffer, or that opens hundreds of databases."""


def open_store(path: Path, **options: Any) -> Database:
    """Open the database that belongs to a path, on the store that the test runs on."""
    if is_on_server():
        return PostgresDatabase.open(address_of(path), **options)
    return SqliteDatabase.open(path, **options)


def is_on_server() -> bool:
    """Say whether the test runs on a server."""
    return URL in os.environ


def address_of(path: Path) -> StoreAddress:
    """Return where on the server the database of a path lies."""
    return StoreAddress(os.environ[URL], hashlib.sha256(str(path).encode()).hexdigest()[:32])


@contextmanager
def holding_line(path: Path) -> Iterator[None]:
    """Be a writer of another process that takes long."""
    if is_on_server():
        address = address_of(path)
        with address.connect() as raw, raw.transaction():
            raw.execute("SELECT pg_advisory_xact_lock(%s)", (address.number("writers"),))
            yield
        return
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
        other.execute("COMMIT")
    finally:
        other.close()
