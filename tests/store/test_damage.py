"""A damaged database: said clearly, left alone, and rescued as far as it can be read."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from callboard.store.connection import StoreCorrupt
from callboard.store.integrity import check_integrity
from callboard.store.sqlite.database import SqliteDatabase
from callboard.store.sqlite.salvage import salvage

EVENTS = 3_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a database of many pages, all of it in one file."""
    file = tmp_path / "callboard.db"
    database = SqliteDatabase.open(file)
    for start in range(0, EVENTS, 500):
        rows = [(n, "x" * 100) for n in range(start, start + 500)]
        database.submit(
            lambda c, rows=rows: (
                c.executemany(
                    "INSERT INTO events (at, type, data) VALUES (?, 'emitted', ?)", rows
                ).rowcount
            )
        ).result()
    database.close()
    return file


def damage(path: Path, page: int) -> None:
    data = bytearray(path.read_bytes())
    data[page * 4096 : page * 4096 + 4096] = b"\xa5" * 4096
    path.write_bytes(bytes(data))


def middle_page(path: Path) -> int:
    """Return a page in the middle of the events that holds rows and leads to no others."""
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute(
            "SELECT pageno FROM dbstat WHERE name = 'events' AND pagetype = 'leaf' ORDER BY pageno"
        ).fetchall()
    finally:
        connection.close()
    return int(rows[len(rows) // 2][0]) - 1


def test_a_damaged_header_refuses_to_open_and_changes_nothing(path: Path) -> None:
    damage(path, 0)
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt) as caught:
        SqliteDatabase.open(path)
    assert caught.value.code == "database_corrupt"
    assert str(path) in caught.value.message
    assert caught.value.fix is not None
    assert "doctor" in caught.value.fix
    assert "backups" in caught.value.fix
    assert path.read_bytes() == before
    assert {each.name for each in path.parent.iterdir()} == {path.name}


def test_a_damaged_page_is_found_and_told_by_who_reads_it(path: Path) -> None:
    damage(path, middle_page(path))
    before = path.read_bytes()
    database = SqliteDatabase.open(path)
    try:
        with pytest.raises(StoreCorrupt, match="damaged"):
            database.read(lambda c: c.execute("SELECT SUM(LENGTH(data)) FROM events").fetchall())
        # What lies elsewhere can still be read.
        assert database.read(lambda c: c.execute("SELECT * FROM meta").fetchall())
        report = check_integrity(database)
    finally:
        database.close()
    assert not report.is_sound
    assert path.read_bytes() == before


def test_salvage_keeps_every_row_outside_of_the_damage(path: Path, tmp_path: Path) -> None:
    damage(path, middle_page(path))
    before = path.read_bytes()
    kept = salvage(path, tmp_path / "rescued.db")
    assert path.read_bytes() == before
    # One page of about forty rows is lost.
    assert EVENTS - 100 < kept["events"] < EVENTS
    rescued = SqliteDatabase.open(tmp_path / "rescued.db")
    try:
        assert check_integrity(rescued).is_sound
        first, last = rescued.read(
            lambda c: c.execute("SELECT MIN(at), MAX(at) FROM events").fetchone()
        )
        assert (first, last) == (0, EVENTS - 1)
    finally:
        rescued.close()


@pytest.mark.parametrize(
    "spoil",
    [lambda data: data[:4096], lambda data: data[: len(data) // 2], lambda data: b"not a database"],
    ids=["one page left", "cut in half", "another file"],
)
def test_a_file_that_is_cut_or_replaced_is_reported(
    path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(StoreCorrupt):
        database = SqliteDatabase.open(path)
        try:
            database.read(lambda c: c.execute("SELECT SUM(LENGTH(data)) FROM events").fetchall())
        finally:
            database.close()
