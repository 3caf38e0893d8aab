"""From one stored shape to the next: with a backup before any loss, or not at all."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from callboard.store.connection import Connection
from callboard.store.migrations import MIGRATIONS, CreateSchema, Migration, UnknownSchema
from callboard.store.sqlite.connection import SqliteConnection, connect
from callboard.store.sqlite.database import SqliteDatabase
from callboard.store.sqlite.preparation import prepare
from callboard.store.sqlite.schema import create_schema

NEWEST = MIGRATIONS[-1].number


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a database of the present version with something in it."""
    file = tmp_path / "callboard.db"
    SqliteDatabase.open(file).close()
    with sqlite3.connect(file) as connection:
        connection.execute("INSERT INTO meta VALUES ('mine', 'precious')")
    connection.close()
    return file


@pytest.fixture
def connection(path: Path) -> Iterator[SqliteConnection]:
    opened = connect(path)
    yield opened
    opened.close()


def read(path: Path, key: str) -> str | None:
    connection = sqlite3.connect(path)
    try:
        row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    finally:
        connection.close()
    return row[0] if row else None


def forget(connection: Connection, _create: CreateSchema) -> None:
    connection.execute("DELETE FROM meta WHERE key = 'mine'")


def add(connection: Connection, _create: CreateSchema) -> None:
    connection.execute("INSERT INTO meta VALUES ('added', 'yes')")


def fail(connection: Connection, _create: CreateSchema) -> None:
    forget(connection, create_schema)
    raise RuntimeError("half-way")


def test_a_destructive_migration_makes_a_backup_first(
    connection: SqliteConnection, path: Path
) -> None:
    backups = path.parent / "backups"
    steps = [
        *MIGRATIONS,
        Migration(NEWEST + 1, "add", add),
        Migration(NEWEST + 2, "forget", forget, destructive=True),
    ]
    prepare(connection, path, backups, steps)
    assert (read(path, "mine"), read(path, "added")) == (None, "yes")
    assert read(path, "schema_version") == str(NEWEST + 2)
    (backup,) = backups.iterdir()
    assert (read(backup, "mine"), read(backup, "schema_version")) == ("precious", str(NEWEST))


def test_a_harmless_migration_makes_no_backup(connection: SqliteConnection, path: Path) -> None:
    prepare(
        connection, path, path.parent / "backups", [*MIGRATIONS, Migration(NEWEST + 1, "a", add)]
    )
    assert read(path, "added") == "yes"
    assert not (path.parent / "backups").exists()


def test_a_migration_that_fails_changes_nothing_and_keeps_the_backup(
    connection: SqliteConnection, path: Path
) -> None:
    backups = path.parent / "backups"
    steps = [
        *MIGRATIONS,
        Migration(NEWEST + 1, "add", add),
        Migration(NEWEST + 2, "fail", fail, destructive=True),
    ]
    for attempt in (1, 2):
        with pytest.raises(RuntimeError, match="half-way"):
            prepare(connection, path, backups, steps)
        assert (read(path, "mine"), read(path, "added")) == ("precious", None)
        assert read(path, "schema_version") == str(NEWEST)
        assert [read(backup, "mine") for backup in backups.iterdir()] == ["precious"] * attempt
    # What was mended can be tried again.
    prepare(connection, path, backups, steps[:-1])
    assert read(path, "added") == "yes"


@pytest.mark.parametrize("version", [str(NEWEST + 6), "0", "soon"])
def test_a_version_nobody_knows_is_refused_and_left_alone(path: Path, version: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", (version,))
    connection.close()
    before = path.read_bytes()
    with pytest.raises(UnknownSchema) as caught:
        SqliteDatabase.open(path)
    if version.isdecimal():
        assert f"version {version}" in caught.value.message
    assert str(NEWEST) in caught.value.message
    assert caught.value.fix
    assert path.read_bytes() == before
    assert not (path.parent / "backups").exists()


def test_a_database_of_somebody_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "callboard.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(UnknownSchema, match="recipes"):
        SqliteDatabase.open(path)
    assert path.read_bytes() == before


def test_opening_twice_changes_nothing(path: Path) -> None:
    before = path.read_bytes()
    SqliteDatabase.open(path).close()
    assert path.read_bytes() == before


def shape(path: Path) -> dict[str, str]:
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        return {name: " ".join(sql.replace("IF NOT EXISTS ", "").split()) for name, sql in rows}
    finally:
        connection.close()


def test_a_project_of_the_first_version_is_completed_and_keeps_what_it_has(tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    with sqlite3.connect(old) as connection:
        connection.executescript((Path(__file__).parent / "version_1.sql").read_text("utf-8"))
        connection.execute("INSERT INTO meta VALUES ('schema_version', '1'), ('mine', 'precious')")
    connection.close()
    SqliteDatabase.open(new).close()
    assert shape(old) != shape(new)
    SqliteDatabase.open(old).close()
    assert shape(old) == shape(new)
    assert read(old, "mine") == "precious"
    assert read(old, "schema_version") == str(NEWEST)
