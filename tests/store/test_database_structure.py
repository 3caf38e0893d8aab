"""A database with anything in it that we did not put there is refused, by name."""

# ruff: noqa: S608 - names of our own schema

import sqlite3
from pathlib import Path

import pytest

from callboard.store.sqlite.database import SqliteDatabase
from callboard.store.sqlite.schema import create_schema
from callboard.store.sqlite.structure import (
    KNOWN_STRUCTURE,
    OBJECTS,
    UnknownObjects,
    structure_digest,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "callboard.db"
    SqliteDatabase.open(file).close()
    return file


def alter(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def in_the_schema(name: str, old: str, new: str) -> tuple[str, ...]:
    """Return how somebody changes the SQL behind a known name."""
    return (
        "PRAGMA writable_schema=ON",
        f"UPDATE sqlite_schema SET sql = replace(sql, '{old}', '{new}') WHERE name = '{name}'",
    )


ANSWERS = (
    "CREATE TRIGGER {name} AFTER INSERT ON questions BEGIN"
    " UPDATE questions SET value = 'yes', answered_by = 'human' WHERE id = NEW.id; END"
)


@pytest.mark.parametrize(
    ("statements", "named"),
    [
        ((ANSWERS.format(name="t"),), "trigger t is unknown"),
        (
            ("DROP TRIGGER library_passages_added", ANSWERS.format(name="library_passages_added")),
            "trigger library_passages_added is not as Callboard makes it",
        ),
        (("CREATE VIEW v AS SELECT * FROM runs",), "view v is unknown"),
        (("CREATE TABLE extra (a)",), "table extra is unknown"),
        (("CREATE INDEX i ON runs (title)",), "index i is unknown"),
        (("CREATE VIRTUAL TABLE w USING fts5(a)",), "table w is unknown"),
        (("DROP INDEX runs_by_state",), "index runs_by_state is missing"),
        (("ALTER TABLE runs ADD COLUMN extra TEXT DEFAULT 'x'",), "table runs is not as"),
        (
            ("ALTER TABLE runs ADD COLUMN twice TEXT GENERATED ALWAYS AS (title || title)",),
            "table runs is not as",
        ),
        (
            in_the_schema("questions", "answered_by TEXT", "answered_by TEXT DEFAULT ''human''"),
            "table questions is not as",
        ),
    ],
)
def test_what_somebody_added_is_refused_by_name(
    path: Path, statements: tuple[str, ...], named: str
) -> None:
    alter(path, *statements)
    before = path.read_bytes()
    with pytest.raises(UnknownObjects) as caught:
        SqliteDatabase.open(path)
    assert named in caught.value.message
    assert "salvage" in str(caught.value.fix)
    assert path.read_bytes() == before


def test_a_trigger_in_an_older_database_is_refused_before_it_is_migrated(path: Path) -> None:
    alter(
        path, "UPDATE meta SET value = '1' WHERE key = 'schema_version'", ANSWERS.format(name="t")
    )
    with pytest.raises(UnknownObjects, match="trigger t is unknown"):
        SqliteDatabase.open(path)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT value FROM meta").fetchall() == [("1",)]
    connection.close()


def test_what_sqlite_keeps_for_itself_is_no_stranger(path: Path) -> None:
    alter(path, "ANALYZE")
    SqliteDatabase.open(path).close()


def test_the_known_digest_is_that_of_the_schema() -> None:
    connection = sqlite3.connect(":memory:")
    create_schema(connection)
    digest = structure_digest(connection.execute(OBJECTS).fetchall())
    connection.close()
    assert digest == KNOWN_STRUCTURE, f"KNOWN_STRUCTURE must be {digest}"
