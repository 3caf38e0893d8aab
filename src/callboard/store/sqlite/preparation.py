"""Preparing a file: made anew, or brought up to date with a backup before any loss."""

import os
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from callboard.store.migrations import FIRST_WITH_LEDGER, MIGRATIONS, Migration, UnknownSchema
from callboard.store.sqlite.connection import SqliteConnection
from callboard.store.sqlite.schema import create_schema

Sealing = Callable[[SqliteConnection, int | None], None]
"""Is told the version a database had, before its change is committed; may object by raising."""


def prepare(
    connection: SqliteConnection,
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
    return version is not None and FIRST_WITH_LEDGER <= version < MIGRATIONS[-1].number


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


def _upgrade(
    connection: sqlite3.Connection, path: Path, backups: Path, steps: Sequence[Migration]
) -> None:
    for step in steps:
        if step.destructive:
            back_up(path, backups, f"before-{step.number:04d}")
        step.apply(connection, create_schema)
