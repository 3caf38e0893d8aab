"""The ledger on bad days: rolled back, cut, replaced, moved, without its key."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from ledgerlab import KEY, behind_its_back, opened, seal_for, write

from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.ledger.book import read_head
from callboard.store.ledger.rows import UNPROTECTED, is_protected
from callboard.store.presence import DatabaseMissing
from callboard.store.sqlite.database import SqliteDatabase

INSERT = "INSERT INTO records VALUES ('p', 'k', ?, '{}', 1, 1)"


def fill(database: Database, *names: str) -> None:
    for name in names:
        write(database, INSERT, (name,))


def copy_of(folder: Path, target: Path) -> None:
    target.mkdir()
    for path in folder.glob("callboard.db*"):
        shutil.copy(path, target / path.name)


def put_back(target: Path, folder: Path) -> None:
    for path in folder.glob("callboard.db*"):
        path.unlink()
    for path in target.iterdir():
        shutil.copy(path, folder / path.name)


def codes(database: Database) -> list[str]:
    return [flaw.code for flaw in database.verify().flaws]


def test_every_table_of_the_schema_is_protected_but_the_named_ones(tmp_path: Path) -> None:
    with opened(tmp_path), behind_its_back(tmp_path) as connection:
        found = {
            r[0] for r in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        }
        assert set(filter(is_protected, found)) == found - {*UNPROTECTED, "sqlite_sequence"}


def test_an_entry_per_commit_and_none_for_what_is_undone(tmp_path: Path) -> None:
    def fails(connection: Connection) -> None:
        connection.execute(INSERT, ("undone",))
        raise RuntimeError("on purpose")

    with opened(tmp_path) as database:
        fill(database, "a")
        before = database.verify().entries
        assert isinstance(database.submit(fails).exception(), RuntimeError)
        assert database.verify().entries == before
        # The triggers went with the transaction that made them: they are made again.
        write(database, "INSERT INTO meta VALUES ('x', 'y')")
        fill(database, "b")
        assert database.verify().entries == before + 2
        assert database.verify().is_sound


@pytest.mark.parametrize("with_log", [True, False])
def test_an_older_copy_is_told_apart_whatever_is_written_after_it(
    tmp_path: Path, with_log: bool
) -> None:
    with opened(tmp_path) as database:
        fill(database, "a", "b")
        if with_log:
            copy_of(tmp_path, tmp_path / "old")
    if not with_log:
        copy_of(tmp_path, tmp_path / "old")
    with opened(tmp_path) as database:
        fill(database, "c", "d", "e")
        newest = database.verify().entries
    put_back(tmp_path / "old", tmp_path)
    with opened(tmp_path) as database:
        gap = database.gap()
        assert gap is not None
        assert (gap.found, gap.known) == (newest - 3, newest)
        assert codes(database) == ["entries_lost"]
        # However much is written afterwards, it does not cover the loss up.
        fill(database, *(f"n{number}" for number in range(9)))
        assert codes(database) == ["entries_lost"]
        assert str(newest) in database.verify().flaws[0].message
        assert database.gap() is not None
        found = database.accept()
        assert [flaw.code for flaw in found.flaws] == ["entries_lost"]
        assert database.gap() is None
        assert database.verify().is_sound
        assert any("accepted" in note for note in database.verify().notes)
    put_back(tmp_path / "old", tmp_path)
    with opened(tmp_path) as database:
        assert codes(database) == ["entries_lost"]


def test_entries_removed_changed_or_forged_are_named(tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        fill(database, "a", "b", "c", "d")
        with behind_its_back(tmp_path) as connection:
            for edit, code in (
                ("DELETE FROM ledger WHERE seq = 3", "entries_removed"),
                ("UPDATE ledger SET body = replace(body, 'a', 'z') WHERE seq = 2", "entry_changed"),
                ("UPDATE ledger SET at = 5 WHERE seq = 2", "entry_changed"),
                ("UPDATE ledger SET mac = zeroblob(16) WHERE seq = 2", "entry_forged"),
                ("UPDATE ledger SET kind = 'gap' WHERE seq = 2", "entry_changed"),
                ("UPDATE ledger SET key_id = 'other' WHERE seq = 2", "entry_changed"),
                ("UPDATE ledger SET hash = zeroblob(32) WHERE seq = 2", "entry_changed"),
                ("DELETE FROM ledger WHERE seq > 3", "entries_lost"),
                ("DELETE FROM ledger", "entries_lost"),
            ):
                connection.execute("CREATE TEMP TABLE kept AS SELECT * FROM ledger")
                connection.execute(edit)
                assert code in codes(database), edit
                connection.execute("DELETE FROM ledger")
                connection.execute("INSERT INTO ledger SELECT * FROM kept")
                connection.execute("DROP TABLE kept")
                assert codes(database) == [], edit


def test_a_ledger_that_is_gone_is_not_begun_anew(tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        fill(database, "a")
    with behind_its_back(tmp_path) as connection:
        connection.execute("DELETE FROM ledger")
    with opened(tmp_path) as database:
        assert "entries_lost" in codes(database)
        fill(database, "b")
        assert "entries_lost" in codes(database)


def test_a_database_without_a_ledger_is_adopted_once(tmp_path: Path) -> None:
    SqliteDatabase.open(tmp_path / "callboard.db").close()
    with behind_its_back(tmp_path) as connection:
        connection.execute(INSERT, ("before",))
    for _ in range(2):
        with opened(tmp_path) as database:
            report = database.verify()
            assert report.is_sound
            assert [note for note in report.notes if "not proven before" in note]
    with behind_its_back(tmp_path) as connection:
        connection.execute("UPDATE records SET body = 'x'")
    with opened(tmp_path) as database:
        assert [(flaw.table, flaw.key) for flaw in database.verify().flaws] == [
            ("records", "p, k, before")
        ]


def test_a_lost_key_leaves_everything_readable_and_says_what_is_unproven(tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        fill(database, "a")
    shutil.rmtree(tmp_path / "user")
    other = seal_for(tmp_path, bytes(32), "other")
    with opened(tmp_path, other) as database:
        fill(database, "b")
        report = database.verify()
        assert report.flaws == ()
        assert not report.is_sound
        assert "a key this machine does not know (mine)" in report.unproven[0]
        with behind_its_back(tmp_path) as connection:
            connection.execute("UPDATE records SET body = 'x' WHERE id = 'a'")
        # The chain still tells what does not agree with it.
        assert codes(database) == ["row_changed"]
        database.accept()
        assert database.verify().is_sound


def test_without_any_key_only_agreement_is_checked(tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        fill(database, "a")
    database = SqliteDatabase.open(tmp_path / "callboard.db")
    try:
        report = database.verify()
        assert (report.flaws, report.is_sound) == ((), False)
        assert "no key" in report.unproven[0]
    finally:
        database.close()


def test_rows_signed_with_the_wrong_key_are_forged(tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        fill(database, "a")
    impostor = seal_for(tmp_path / "elsewhere", bytes(32), "mine")
    with opened(tmp_path, impostor) as database:
        fill(database, "b")
    with opened(tmp_path) as database:
        assert codes(database) == ["entry_forged"]


def test_the_head_never_goes_back_and_a_damaged_one_is_told(tmp_path: Path) -> None:
    first = SqliteDatabase.open(tmp_path / "callboard.db", seal=seal_for(tmp_path))
    second = SqliteDatabase.open(tmp_path / "callboard.db", seal=seal_for(tmp_path))
    try:
        seen: list[int] = []
        for number in range(10):
            fill(first, f"a{number}")
            fill(second, f"b{number}")
            tail = read_head(seal_for(tmp_path)).tail
            assert tail is not None
            seen.append(tail.seq)
        assert seen == sorted(set(seen))
        assert second.verify().is_sound
    finally:
        first.close()
        second.close()
    (tmp_path / "user" / "head").write_bytes(b"\x00" * 119)
    with opened(tmp_path) as database:
        assert codes(database) == ["entries_lost"]
        fill(database, "c")
        assert codes(database) == ["entries_lost"]
        database.accept()
        assert database.verify().is_sound


def remove(folder: Path) -> None:
    (folder / "callboard.db").unlink()


def empty(folder: Path) -> None:
    (folder / "callboard.db").write_bytes(b"")


@pytest.mark.parametrize("lose", [remove, empty])
@pytest.mark.parametrize("known_by", ["head", "log", "mirrors"])
def test_a_missing_database_is_never_replaced_silently(
    tmp_path: Path, lose: Callable[[Path], None], known_by: str
) -> None:
    log = tmp_path / "callboard.db-wal"
    with opened(tmp_path) as database:
        fill(database, "a")
        kept = log.read_bytes()
    lose(tmp_path)
    log.unlink(missing_ok=True)
    mirrors = tmp_path / "runs"
    seal = seal_for(tmp_path)
    if known_by != "head":
        shutil.rmtree(tmp_path / "user")
    if known_by == "log":
        log.write_bytes(kept)
    if known_by == "mirrors":
        (mirrors / "run_1").mkdir(parents=True)
    before = {path.name for path in tmp_path.iterdir()}
    with pytest.raises(DatabaseMissing) as caught:
        SqliteDatabase.open(tmp_path / "callboard.db", seal=seal, mirrors=(mirrors,))
    told = {"head": "countersigned", "log": "callboard.db-wal", "mirrors": "runs"}
    assert told[known_by] in caught.value.message
    assert "doctor --accept" in str(caught.value.fix)
    assert {path.name for path in tmp_path.iterdir()} == before


def test_work_grows_with_the_rows_and_no_faster(tmp_path: Path) -> None:
    """Count what SQLite does for a verification, not how long it takes."""
    work: list[int] = []
    for count in (1_000, 4_000):
        folder = tmp_path / str(count)
        folder.mkdir()
        with opened(folder) as database:
            for start in range(0, count, 100):
                rows = [(f"{start + number}",) for number in range(100)]
                database.submit(lambda c, rows=rows: c.executemany(INSERT, rows).rowcount).result()
            ticks = 0

            def tick() -> None:
                nonlocal ticks
                ticks += 1

            reader = database._reader()
            reader.set_progress_handler(tick, 100)
            assert database.verify().rows == count + 1
            reader.set_progress_handler(None, 100)
        work.append(ticks)
    assert work[1] < 5 * work[0]


def test_a_seal_does_not_show_its_key(tmp_path: Path) -> None:
    assert KEY.hex() not in repr(seal_for(tmp_path))
    assert repr(KEY) not in repr(seal_for(tmp_path))


def test_text_that_is_none_is_named_like_any_other_edit(tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        fill(database, "a")
        with behind_its_back(tmp_path) as connection:
            connection.execute("UPDATE records SET body = CAST(x'ff00fe' AS TEXT)")
        assert codes(database) == ["row_changed"]


def test_a_statement_past_the_watch_is_refused(tmp_path: Path) -> None:
    def past(connection: Connection) -> None:
        assert isinstance(connection, sqlite3.Connection)
        connection.cursor().execute(INSERT, ("a",))

    with opened(tmp_path) as database:
        assert database.submit(past).exception() is not None
        assert database.verify().is_sound


def test_rows_that_vanish_by_replacing_moving_or_cascading_are_noted(tmp_path: Path) -> None:
    """One row is pushed out by another's unique number, one moves, one goes with its parent."""
    session = "INSERT OR REPLACE INTO sessions VALUES (?, ?, '', '', '', '', 1, 1, 1, 1, 1)"
    with opened(tmp_path) as database:
        write(database, session, ("a", 1))
        write(database, session, ("b", 1))
        write(database, "UPDATE sessions SET id = 'c'")
        write(database, "INSERT INTO library_documents VALUES ('c', 'p', '', '', '', 1, 1)")
        write(database, "INSERT INTO library_passages VALUES (1, 'c', 'p', 1, '', '', 1, 1, x'00')")
        write(database, "DELETE FROM library_documents")
        assert database.read(lambda c: c.execute("SELECT * FROM library_passages").fetchall()) == []
        assert codes(database) == []


def test_a_statement_that_fails_half_way_leaves_nothing_in_the_ledger(tmp_path: Path) -> None:
    def half_way(connection: Connection) -> None:
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(
                "INSERT INTO records VALUES ('p', 'k', 'new', '', 1, 1), ('p', 'k', 'a', '', 1, 1)"
            )
        connection.execute("INSERT INTO meta VALUES ('x', 'y')")

    def taken_back(connection: Connection) -> None:
        connection.execute("SAVEPOINT one")
        connection.execute(INSERT, ("b",))
        connection.execute("ROLLBACK TO one")
        connection.execute("RELEASE one")

    with opened(tmp_path) as database:
        fill(database, "a")
        database.submit(half_way).result()
        assert codes(database) == []
        database.submit(taken_back).result()
        assert codes(database) == []


def test_a_ledger_whose_head_is_gone_is_not_proven(tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        fill(database, "one")
        assert database.verify().is_sound
    seal_for(tmp_path).head.unlink()
    with opened(tmp_path) as database:
        report = database.verify()
    assert not report.is_sound
    assert any("nothing countersigns" in told for told in report.unproven)
