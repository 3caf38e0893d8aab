"""Somebody edits the database: each single edit is named by `receipts verify` and by `doctor`."""

# ruff: noqa: S608 - names of our own schema

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from clitools import Here

from callboard.cli import exits
from callboard.core.errors import CallboardError
from callboard.store.connection import Connection
from callboard.store.ledger.rows import UNPROTECTED, is_protected
from callboard.studio.database import open_database
from callboard.studio.project import Project
from sizes import size

pytestmark = pytest.mark.usefixtures("done_run")


@contextmanager
def plain(project: Path) -> Iterator[sqlite3.Connection]:
    """Open the database as anybody can who has the folder."""
    connection = sqlite3.connect(Project(project).database, isolation_level=None)
    connection.row_factory = sqlite3.Row
    try:
        yield connection
    finally:
        connection.close()


def columns_of(connection: sqlite3.Connection) -> dict[str, list[Any]]:
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    return {
        row[0]: connection.execute(f"PRAGMA table_info({row[0]})").fetchall()
        for row in found
        if is_protected(row[0])
    }


def fill(project: Path) -> None:
    """Give the tables a row each that the run left empty, by the door all rows come in by."""

    def work(connection: Connection) -> None:
        # Those that others refer to come first, whatever the order of the names.
        for table in (*tables, *tables):
            if connection.execute(f"SELECT 1 FROM {table}").fetchone() is None:
                row = {c["name"]: 1 if c["type"] != "TEXT" else "x" for c in tables[table]}
                for link in connection.execute(f"PRAGMA foreign_key_list({table})").fetchall():
                    parent = connection.execute(f"SELECT * FROM {link['table']}").fetchone()
                    row[link["from"]] = "x" if parent is None else parent[link["to"]]
                marks = ", ".join("?" * len(row))
                connection.execute(
                    f"INSERT OR IGNORE INTO {table} VALUES ({marks})", list(row.values())
                )

    with plain(project) as connection:
        tables = columns_of(connection)
        waiting = [
            t for t in tables if connection.execute(f"PRAGMA foreign_key_list({t})").fetchone()
        ]
    tables = {t: tables[t] for t in sorted(tables, key=lambda name: name in waiting)}
    database = open_database(Project(project))
    try:
        database.submit(work).result()
    finally:
        database.close()


Edit = tuple[str, str, str, tuple[Any, ...]]


def edits(connection: sqlite3.Connection) -> Iterator[Edit]:
    """Give one edit per column of every table, one row removed and one added per table."""
    for table, columns in columns_of(connection).items():
        keys = [c["name"] for c in sorted(columns, key=lambda c: c["pk"]) if c["pk"]]
        row = connection.execute(f"SELECT * FROM {table} ORDER BY rowid DESC").fetchone()
        assert row is not None, f"{table} is empty"
        where = " AND ".join(f'"{key}" = ?' for key in keys)
        values = tuple(row[key] for key in keys)
        name = f"{table} {', '.join(str(value) for value in values)}"
        for column in columns:
            changed = 987_654 if column["type"] == "INTEGER" else "zzz"
            sql = f'UPDATE {table} SET "{column["name"]}" = ? WHERE {where}'
            yield f"{table}.{column['name']}", name, sql, (changed, *values)
        yield f"{table} removed", name, f"DELETE FROM {table} WHERE {where}", values
        others = ["zzz" if c["type"] != "INTEGER" else 987_654 for c in columns]
        marks = ", ".join("?" * len(others))
        added = ", ".join(str(v) for v, c in zip(others, columns, strict=True) if c["pk"])
        yield (
            f"{table} added",
            f"{table} {added}",
            f"INSERT INTO {table} VALUES ({marks})",
            tuple(others),
        )


def is_named(told: str, name: str, what: str) -> bool:
    # Who changes the version of the schema is refused before anything can be compared.
    if what in ("meta.key", "meta.value", "meta removed"):
        return name in told or "schema version" in told or "not a Callboard database" in told
    return name in told


@pytest.mark.chaos
def test_every_single_edit_is_named_and_none_is_taken_for_sound(project: Path, here: Here) -> None:
    fill(project)
    path = Project(project).database
    with plain(project) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        planned = list(edits(connection))
    assert here("receipts", "verify").code == exits.OK
    kept = path.read_bytes()
    assert len(planned) > 400
    missed: list[str] = []
    doors = 0
    for number, (what, name, sql, values) in enumerate(planned):
        # Every third column, and one door after the other; all of both with `make chaos`.
        if "." in what and number % size(3, 1):
            continue
        with plain(project) as connection:
            connection.execute(sql, values)
        if not is_named(verified(project), name, what):
            missed.append(what)
        # The doors ask the same question; each table and every step and run passes through them.
        if what.endswith(" removed") or (number % 3 == 0 and what.startswith(("steps.", "runs."))):
            doors += 1
            both = (("receipts", "verify"), ("doctor",))
            for words in size((both[doors % 2],), both):
                ended = here(*words)
                if ended.code == exits.OK or not is_named(ended.out + ended.err, name, what):
                    missed.append(f"{words}: {what}: {ended}")
        path.write_bytes(kept)
        for log in path.parent.glob("callboard.db-*"):
            log.unlink()
    assert missed == []
    assert doors > 40
    assert here("receipts", "verify").code == exits.OK


def verified(project: Path) -> str:
    """Return what the verification behind every door says of the database."""
    try:
        database = open_database(Project(project))
    except CallboardError as error:
        return error.message
    try:
        return "\n".join(flaw.message for flaw in database.verify().flaws)
    finally:
        database.close()


def test_the_ledger_itself_cannot_be_edited_unseen(project: Path, here: Here) -> None:
    assert "ledger" in UNPROTECTED
    kept = Project(project).database.read_bytes()
    for sql in (
        "UPDATE ledger SET body = replace(body, 'a', 'b') WHERE seq = 2",
        "DELETE FROM ledger WHERE seq = 3",
        "DELETE FROM ledger WHERE seq > 5",
        "DELETE FROM ledger",
    ):
        with plain(project) as connection:
            connection.execute(sql)
        assert here("receipts", "verify").code == exits.FAILED, sql
        assert here("doctor").code == exits.FAILED, sql
        Project(project).database.write_bytes(kept)


def test_receipts_heads_and_mirror_removed_together_are_missed(project: Path, here: Here) -> None:
    with plain(project) as connection:
        gone = connection.execute("DELETE FROM receipts").rowcount
        connection.execute("DELETE FROM receipt_heads")
    shutil.rmtree(Project(project).audit / "sessions")
    ended = here("receipts", "verify")
    assert ended.code == exits.FAILED
    assert ended.out.count("row_removed: receipts ") == gone
    assert "row_removed: receipt_heads" in ended.out


def test_a_key_beside_the_data_forges_nothing(project: Path, here: Here) -> None:
    """What lies in the project is not enough to sign with."""
    inside = b"".join(path.read_bytes() for path in project.rglob("*") if path.is_file())
    key = Project(project).key.read_bytes().strip()
    assert key not in inside
    assert not Project(project).key.is_relative_to(project)
    assert not Project(project).head.is_relative_to(project)
    assert here("receipts", "verify").code == exits.OK


def copies(project: Path, target: Path) -> None:
    target.mkdir()
    for path in Project(project).database.parent.glob("callboard.db*"):
        shutil.copy(path, target / path.name)


def test_an_older_copy_is_no_project_without_a_flaw_until_it_is_accepted(
    project: Path, here: Here, tmp_path: Path
) -> None:
    copies(project, tmp_path / "old")
    assert here("run", "recipe", "--model", "script:good.yaml").code == exits.OK
    for path in Project(project).database.parent.glob("callboard.db*"):
        path.unlink()
    for path in (tmp_path / "old").iterdir():
        shutil.copy(path, Project(project).database.parent / path.name)
    ended = here("receipts", "verify")
    assert ended.code == exits.FAILED
    assert "were committed and are gone" in ended.out
    looked = here("doctor")
    assert looked.code == exits.FAILED
    assert "doctor --accept" in looked.out
    # What is written afterwards does not cover it up.
    assert here("run", "recipe", "--model", "script:good.yaml").code == exits.OK
    assert "were committed and are gone" in here("receipts", "verify").out
    accepted = here("doctor", "--accept")
    assert accepted.code == exits.OK
    assert "were committed and are gone" in accepted.out
    after = here("receipts", "verify")
    assert (after.code, "you accepted the database" in after.err) == (exits.OK, True), after


@pytest.mark.parametrize("with_log", [True, False])
def test_a_missing_database_is_not_an_empty_project(
    project: Path, here: Here, with_log: bool
) -> None:
    path = Project(project).database
    path.unlink()
    if with_log:
        path.with_name("callboard.db-wal").write_bytes(b"the last copy of the data")
    before = sorted(p.name for p in path.parent.iterdir())
    for words in (("receipts", "verify"), ("runs", "list"), ("run", "recipe"), ("tool", "list")):
        ended = here(*words)
        assert ended.code != exits.OK, words
        assert "countersigned" in ended.err + ended.out, words
        assert "doctor --accept" in ended.err + ended.out, words
    looked = here("doctor")
    assert looked.code == exits.FAILED
    assert "countersigned" in looked.out
    assert "nothing has run yet" not in looked.out
    assert sorted(p.name for p in path.parent.iterdir()) == before
    accepted = here("doctor", "--accept")
    assert accepted.code == exits.OK, accepted
    assert "a new one has been begun" in accepted.out
    (aside,) = (path.parent / "backups").glob("lost-*")
    assert {"runs", "audit", "head"} <= {p.name for p in aside.iterdir()}
    assert (aside / "callboard.db-wal").exists() == with_log
    looked = here("doctor")
    assert "✗ database" not in looked.out
    assert "✗ ledger" not in looked.out
    assert here("run", "recipe", "--model", "script:good.yaml").code == exits.OK
    assert here("receipts", "verify").code == exits.OK


def test_without_the_users_data_everything_opens_and_says_what_is_unproven(
    project: Path, here: Here
) -> None:
    found = Project(project)
    found.head.unlink()
    found.key.write_text("00" * 32 + "\n")
    assert here("runs", "list").code == exits.OK
    ended = here("receipts", "verify")
    assert ended.code == exits.FAILED
    assert "signed by a key this machine does not know" in ended.out
    assert "row_changed" not in ended.out
    assert here("doctor", "--accept").code == exits.OK
    assert "not proven" not in here("receipts", "verify").out


@pytest.mark.parametrize("column", ["state", "kind", "effect"])
def test_a_step_nobody_can_have_written_is_named_and_no_mistake_of_ours(
    project: Path, here: Here, done_run: str, column: str
) -> None:
    with plain(project) as connection:
        (key,) = connection.execute("SELECT key FROM steps ORDER BY seq LIMIT 1").fetchone()
        connection.execute(f"UPDATE steps SET {column} = 'zzz' WHERE key = ?", (key,))
    for words in (("runs", "show", done_run), ("runs", "steps", done_run), ("doctor",)):
        ended = here(*words)
        told = ended.out + ended.err
        assert ended.code != exits.OK
        assert "a mistake in Callboard" not in told
        assert done_run in told
        assert key in told


def test_a_run_nobody_can_have_written_is_named(project: Path, here: Here, done_run: str) -> None:
    with plain(project) as connection:
        connection.execute("UPDATE runs SET state = 'zzz'")
    for words in (("runs", "list"), ("runs", "show", done_run), ("doctor",)):
        ended = here(*words)
        assert ended.code != exits.OK
        assert done_run in ended.out + ended.err
        assert "a mistake in Callboard" not in ended.err


def test_the_doctor_writes_no_forged_value_over_an_intact_copy(
    project: Path, here: Here, done_run: str
) -> None:
    folder = project / ".callboard" / "runs" / done_run
    intact = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    with plain(project) as connection:
        connection.execute("UPDATE runs SET title = 'Forged'")
    ended = here("doctor", "--fix", "--json")
    assert ended.code == exits.FAILED
    (told,) = [each for each in ended.json["findings"] if each["what"] == "run folders"]
    assert told["mark"] == "bad" and done_run in told["told"]
    assert "nothing was written" in told["told"] and "--accept" in told["fix"]
    assert {name: (folder / name).read_bytes() for name in intact} == intact

    # Who says that the database shall count still has what the folder held.
    assert here("doctor", "--accept").code == exits.OK
    here("doctor", "--fix")
    assert b"Forged" in (folder / "run.json").read_bytes()
    (kept,) = (project / ".callboard" / "backups").glob(f"folders-*/{done_run}")
    assert {name: (kept / name).read_bytes() for name in intact} == intact
