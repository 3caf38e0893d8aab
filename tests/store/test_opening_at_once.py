"""A new file that many open at once: whoever comes second waits instead of finding a lock."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.store.sqlite.connection import connect, is_busy, write_ahead
from callboard.store.sqlite.database import SqliteDatabase

MANY = 8


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Return a connection that has a new file for itself."""
    connection = sqlite3.connect(tmp_path / "new.db", isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    yield connection
    connection.close()


def test_the_second_waits_until_the_first_lets_go(
    tmp_path: Path, holder: sqlite3.Connection
) -> None:
    refused = 0

    class Second(sqlite3.Connection):
        """Has the first one let go when it is refused for the third time."""

        def execute(self, *args: Any) -> sqlite3.Cursor:
            nonlocal refused
            try:
                return super().execute(*args)
            except sqlite3.OperationalError:
                refused += 1
                if refused == 3:
                    holder.execute("COMMIT")
                raise

    second = sqlite3.connect(tmp_path / "new.db", timeout=0, isolation_level=None, factory=Second)
    write_ahead(second)
    assert refused == 3
    assert second.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    second.close()


def test_patience_has_an_end(tmp_path: Path, holder: sqlite3.Connection) -> None:
    second = sqlite3.connect(tmp_path / "new.db", timeout=0, isolation_level=None)
    with pytest.raises(sqlite3.OperationalError) as caught:
        write_ahead(second, patience=0)
    assert is_busy(caught.value)
    assert not is_busy(sqlite3.OperationalError("no such table"))
    second.close()
    assert holder.in_transaction


def test_many_open_a_new_project_at_once(tmp_path: Path) -> None:
    start = threading.Barrier(MANY)
    versions: list[int] = []

    def enter() -> None:
        start.wait()
        database = SqliteDatabase.open(tmp_path / "callboard.db")
        versions.append(database.read(lambda c: len(c.execute("SELECT * FROM meta").fetchall())))
        database.close()

    threads = [threading.Thread(target=enter) for _ in range(MANY)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert versions == [versions[0]] * MANY
    assert versions[0] > 0


def test_a_file_that_is_no_database_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "new.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(Exception, match=r"not a database|damaged"):
        connect(tmp_path / "new.db")
