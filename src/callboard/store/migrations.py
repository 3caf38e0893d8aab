"""Numbered migrations: how an old database becomes a new one, with a backup before any loss."""

import os
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from callboard.core.errors import CallboardError
from callboard.store.connection import Connection


class UnknownSchema(CallboardError):
    """The database was written by a Callboard this one does not know."""

    code = "unknown_schema"


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered change of the stored shape; a destructive one is preceded by a backup."""

    number: int
    title: str
    apply: Callable[[Connection], None]
    destructive: bool = False


def _initial(_connection: Connection) -> None:
    """Version 1 is what `create` makes."""


def _books_and_kitchens(connection: Connection) -> None:
    """Version 2 has more tables, and finds runs of a session by their state."""
    connection.execute("DROP INDEX IF EXISTS runs_by_session")
    create_schema(connection)


def _ledger(connection: Connection) -> None:
    """Version 3 writes down what each commit changed, and calls of tools before they act."""
    create_schema(connection)


def _one_memory_of_answers(connection: Connection) -> None:
    """Version 4 keeps what models have said under one kind, by all that it depends on.

    The rows of before name their texts and questions by digests alone, so that nobody can tell
    which answer each is; they only saved calls, and each costs one call at most to make again.
    """
    for kind in ("health_judgement", "scene_verdict", "rules_verdict", "rule_verdict"):
        connection.execute("DELETE FROM records WHERE kind = :kind", {"kind": kind})


def _claims(connection: Connection) -> None:
    """Version 5 counts how often each run was claimed, and how often its process died of it."""
    create_schema(connection)


MIGRATIONS: Final[tuple[Migration, ...]] = (
    Migration(1, "the journal and its rooms", _initial),
    Migration(2, "books, kitchens and conversations", _books_and_kitchens),
    Migration(3, "a ledger of every row, and calls that have begun", _ledger),
    Migration(4, "one memory of what models have said", _one_memory_of_answers),
    Migration(5, "claims of runs, counted", _claims),
)
_FIRST_WITH_LEDGER: Final = 3

Sealing = Callable[[sqlite3.Connection, int | None], None]
"""Is told the version a database had, before its change is committed; may object by raising."""


def prepare(
    connection: sqlite3.Connection,
    path: Path,
    backups: Path,
    migrations: Sequence[Migration] = MIGRATIONS,
    sealing: Sealing | None = None,
) -> None:
    """Create an empty database at the newest version, or bring an older one up to it."""
    newest = migrations[-1].number
    if _version(connection) == newest:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection)
        if version is None:
            _refuse_foreign(connection, path)
            create_schema(connection)
        elif version > newest or version < 1:
            raise UnknownSchema(
                f"{path} has schema version {version}; this Callboard knows 1 to {newest}",
                fix="Install a newer Callboard, or open a copy made by this one.",
                found=version,
                known=newest,
            )
        else:
            _upgrade(connection, path, backups, [m for m in migrations if m.number > version])
        connection.execute(
            "INSERT INTO meta (key, value) VALUES ('schema_version', :version)"
            " ON CONFLICT (key) DO UPDATE SET value = :version",
            {"version": str(newest)},
        )
        if sealing is not None and version != newest:
            sealing(connection, version)
        connection.execute("COMMIT")
    except BaseException:
        # A full disk makes SQLite roll back by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def refuse_other_version(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that another Callboard has brought to another version meanwhile."""
    version, newest = _version(connection), MIGRATIONS[-1].number
    if version != newest:
        raise UnknownSchema(
            f"{path} was brought from schema version {newest} to {version} by another Callboard"
            " while this one had it open",
            fix="Start this one again, with the newer Callboard.",
            found=version,
            known=newest,
        )


def has_older_ledger(connection: sqlite3.Connection) -> bool:
    """Say whether a database must be brought up to date whose ledger has to tell of it."""
    version = _version(connection)
    return version is not None and _FIRST_WITH_LEDGER <= version < MIGRATIONS[-1].number


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    tables = [
        row[0]
        for row in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
    ]
    if tables:
        raise UnknownSchema(
            f"{path} is not a Callboard database: it holds {', '.join(sorted(tables)[:5])}",
            fix="Move the file away; Callboard makes its own.",
            path=str(path),
        )


def back_up(path: Path, backups: Path, label: str) -> Path:
    """Copy a live database, consistently, into the backup folder and return the copy's path."""
    backups.mkdir(parents=True, exist_ok=True)
    number = 1
    # A link that leads nowhere is taken as well: through it the copy would be made elsewhere.
    while os.path.lexists(target := backups / f"{path.stem}-{label}-{number}.db"):
        number += 1
    with sqlite3.connect(path) as source, sqlite3.connect(target) as copy:
        source.backup(copy)
    source.close()
    copy.close()
    return target


def _version(connection: sqlite3.Connection) -> int | None:
    has_meta = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'"
    ).fetchone()
    if has_meta is None:
        return None
    row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    if row is None:
        return None
    # What is no number was written by nobody we know.
    return int(row[0]) if str(row[0]).isdecimal() else 0


def create_schema(connection: Connection) -> None:
    """Make every table and index that is not there."""
    for statement in _statements():
        connection.execute(statement)


@cache
def _statements() -> tuple[str, ...]:
    """Return the newest schema in SQL; it does not change while the process lives."""
    from sqlalchemy.dialects import sqlite
    from sqlalchemy.schema import CreateIndex, CreateTable

    from callboard.store.schema import metadata
    from callboard.store.schema.full_text import FULL_TEXT

    dialect = sqlite.dialect()
    made: list[str] = []
    for table in metadata.sorted_tables:
        make_table = CreateTable(table, if_not_exists=True)
        made.append(str(make_table.compile(dialect=dialect)))
        for index in sorted(table.indexes, key=lambda i: str(i.name)):
            make_index = CreateIndex(index, if_not_exists=True)
            made.append(str(make_index.compile(dialect=dialect)))
    return (*made, *FULL_TEXT)


def _upgrade(
    connection: sqlite3.Connection, path: Path, backups: Path, steps: Sequence[Migration]
) -> None:
    for step in steps:
        if step.destructive:
            back_up(path, backups, f"before-{step.number:04d}")
        step.apply(connection)
