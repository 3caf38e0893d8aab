"""The one writer: group commit, isolation of failures, and nothing handed in is ever lost."""

import asyncio
import sqlite3
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.store.connection import Connection, StoreError
from callboard.store.database import Database, Durability
from callboard.store.integrity import check_integrity
from callboard.store.migrations import UnknownSchema
from callboard.store.sqlite.connection import connect
from callboard.store.sqlite.database import SqliteDatabase
from callboard.store.writer import RowRefused, Rows
from callboard.testing import ActAt, FailAt, Moment, Passages

pytestmark = pytest.mark.anyio

FULL = ("fullfsync", "checkpoint_fullfsync")


def put(key: str, value: str = "") -> Any:
    def work(connection: Connection) -> str:
        connection.execute(
            "INSERT INTO meta (key, value) VALUES (:key, :value)", {"key": key, "value": value}
        )
        return key

    return work


def keys(database: Database) -> set[str]:
    found = database.read(lambda c: [row["key"] for row in c.execute("SELECT key FROM meta")])
    return set(found) - {"schema_version"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "callboard.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    opened = SqliteDatabase.open(path)
    yield opened
    opened.close()


async def test_many_writes_at_once_share_few_commits(path: Path) -> None:
    passages = Passages()
    database = SqliteDatabase.open(path, faults=passages)
    try:
        done = await asyncio.gather(*(database.write(put(f"k{n}")) for n in range(500)))
        assert done == [f"k{n}" for n in range(500)]
        assert keys(database) == set(done)
    finally:
        database.close()
    assert passages.counts["store.before_commit"] <= 5


async def test_writes_that_wait_while_the_disk_is_busy_share_the_next_commit(path: Path) -> None:
    busy, free = threading.Event(), threading.Event()

    def hold() -> None:
        busy.set()
        assert free.wait(30)

    faults = ActAt(Moment("store.before_commit"), hold)
    database = SqliteDatabase.open(path, faults=faults)
    try:
        first = database.submit(put("first"))
        assert busy.wait(30)
        waiting = [asyncio.ensure_future(database.write(put(f"k{n}"))) for n in range(100)]
        later = [database.submit(put(f"s{n}")) for n in range(100)]
        await asyncio.sleep(0)
        free.set()
        await asyncio.gather(*waiting)
        for future in (first, *later):
            await asyncio.wrap_future(future)
    finally:
        database.close()
    assert faults.counts["store.before_commit"] <= 4


async def test_a_write_is_readable_once_it_returns(database: Database) -> None:
    for number in range(20):
        await database.write(put(f"k{number}"))
        assert f"k{number}" in keys(database)


async def test_a_unit_that_fails_leaves_the_others_of_its_batch_alone(database: Database) -> None:
    def broken(connection: Connection) -> None:
        put("half")(connection)
        raise ValueError("no")

    units = [put(f"k{n}") for n in range(50)]
    units[20] = broken
    units[30] = lambda connection: connection.execute("INSERT INTO nowhere VALUES (1)")
    results = await asyncio.gather(
        *(database.write(unit) for unit in units), return_exceptions=True
    )
    assert isinstance(results[20], ValueError)
    assert isinstance(results[30], StoreError)
    assert keys(database) == {f"k{n}" for n in range(50)} - {"k20", "k30"}


async def test_a_commit_that_fails_stores_nothing_and_the_next_one_works(path: Path) -> None:
    faults = FailAt(Moment("store.before_commit"), OSError("no"))
    database = SqliteDatabase.open(path, faults=faults)
    try:
        with pytest.raises(OSError, match="no"):
            await database.write(put("lost"))
        await database.write(put("kept"))
        assert keys(database) == {"kept"}
    finally:
        database.close()


async def test_what_was_handed_in_is_committed_though_nobody_waits_any_more(path: Path) -> None:
    database = SqliteDatabase.open(path)
    tasks = [asyncio.ensure_future(database.write(put(f"k{n}"))) for n in range(10)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    database.close()
    again = SqliteDatabase.open(path)
    try:
        assert keys(again) == {f"k{n}" for n in range(10)}
    finally:
        again.close()


async def test_closing_commits_what_is_pending_and_refuses_more(path: Path) -> None:
    database = SqliteDatabase.open(path)
    futures = [database.submit(put(f"k{n}")) for n in range(200)]
    database.close()
    assert [future.result(timeout=0) for future in futures] == [f"k{n}" for n in range(200)]
    with pytest.raises(RuntimeError, match="closed"):
        await database.write(put("late"))
    again = SqliteDatabase.open(path)
    try:
        assert len(keys(again)) == 200
    finally:
        again.close()


async def test_writes_from_two_event_loops_and_a_thread_all_arrive(path: Path) -> None:
    database = SqliteDatabase.open(path)

    async def many(name: str) -> None:
        await asyncio.gather(*(database.write(put(f"{name}{n}")) for n in range(50)))

    async def one_by_one(name: str) -> None:
        for number in range(50):
            await database.write(put(f"{name}{number}"))

    threads = [
        threading.Thread(target=lambda: asyncio.run(many("a"))),
        threading.Thread(target=lambda: asyncio.run(one_by_one("b"))),
    ]
    for thread in threads:
        thread.start()
    await one_by_one("c")
    for thread in threads:
        await asyncio.to_thread(thread.join)
    try:
        assert keys(database) == {f"{name}{n}" for name in "abc" for n in range(50)}
    finally:
        database.close()


async def test_a_read_sees_one_moment_however_long_it_takes(database: Database) -> None:
    await database.write(put("before"))

    def work(connection: Connection) -> tuple[int, int]:
        count = "SELECT COUNT(*) AS count FROM meta"
        first = connection.execute(count).fetchone()["count"]
        database.submit(put("meanwhile")).result(timeout=30)
        return first, connection.execute(count).fetchone()["count"]

    first, second = await asyncio.to_thread(database.read, work)
    assert first == second
    assert keys(database) == {"before", "meanwhile"}


async def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(StoreError):
        database.read(put("no"))
    assert keys(database) == set()


@pytest.mark.parametrize(("durability", "level"), [(Durability.FULL, 2), (Durability.NORMAL, 1)])
async def test_a_connection_is_as_durable_as_it_was_asked_to_be(
    path: Path, durability: Durability, level: int
) -> None:
    def pragmas(connection: Connection) -> list[Any]:
        names = ("synchronous", "foreign_keys", "journal_mode")
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    database = SqliteDatabase.open(path, durability=durability)
    try:
        assert await database.write(pragmas) == [level, 1, "wal"]
    finally:
        database.close()


async def test_another_process_is_noticed(database: Database, path: Path) -> None:
    before = database.version_seen()
    other = SqliteDatabase.open(path)
    try:
        await other.write(put("from elsewhere"))
    finally:
        other.close()
    assert database.version_seen() != before
    assert keys(database) == {"from elsewhere"}


WRITER = textwrap.dedent(
    """
    import asyncio, sys
    from pathlib import Path
    from callboard.store.database import Database
    from callboard.store.sqlite.database import SqliteDatabase

    async def main(path, name):
        database = SqliteDatabase.open(Path(path))
        def put(key):
            def work(connection):
                connection.execute(
                    "INSERT INTO meta (key, value) VALUES (:key, '')", {"key": key}
                )
                # Read, then write what was read: two processes must not do so at once.
                count = connection.execute(
                    "SELECT value FROM meta WHERE key = 'count'"
                ).fetchone()["value"]
                connection.execute(
                    "UPDATE meta SET value = :value WHERE key = 'count'",
                    {"value": str(int(count) + 1)},
                )
            return work
        for number in range(0, 200, 4):
            await database.write(put(f"{name}{number}"))
            await asyncio.gather(*(database.write(put(f"{name}{number + n}")) for n in (1, 2, 3)))
        database.close()

    asyncio.run(main(*sys.argv[1:]))
    """
)


async def test_two_processes_that_write_at_once_lose_nothing(
    database: Database, path: Path
) -> None:
    await database.write(put("count", "0"))
    children = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, str(path), name)
        for name in ("a", "b")
    ]
    for number in range(50):
        await database.write(put(f"c{number}"))
    for child in children:
        assert await child.wait() == 0
    wanted = {f"{name}{n}" for name in "ab" for n in range(200)} | {f"c{n}" for n in range(50)}
    assert keys(database) == {*wanted, "count"}
    count = database.read(
        lambda c: c.execute("SELECT value FROM meta WHERE key = 'count'").fetchone()["value"]
    )
    assert count == "400"
    assert check_integrity(database).is_sound


async def test_rows_that_are_refused_leave_the_others_of_their_batch_alone(
    database: Database,
) -> None:
    insert = "INSERT INTO meta (key, value) SELECT ?, '' WHERE ? = 'yes'"
    units = [Rows(((insert, (f"k{n}", "no" if n == 7 else "yes")),)) for n in range(20)]
    results = await asyncio.gather(
        *(database.write(unit) for unit in units), return_exceptions=True
    )
    assert [n for n, result in enumerate(results) if isinstance(result, RowRefused)] == [7]
    assert keys(database) == {f"k{n}" for n in range(20)} - {"k7"}


async def test_a_unit_of_several_rows_is_stored_whole_or_not_at_all(database: Database) -> None:
    insert = "INSERT INTO meta (key, value) SELECT ?, '' WHERE ? = 'yes'"
    with pytest.raises(RowRefused):
        await database.write(Rows(((insert, ("one", "yes")), (insert, ("two", "no")))))
    assert keys(database) == set()


async def test_nothing_is_written_to_a_database_that_another_version_has_changed_meanwhile(
    path: Path, database: Database
) -> None:
    await database.write(put("before"))
    newer = sqlite3.connect(path)
    newer.execute("UPDATE meta SET value = value + 1 WHERE key = 'schema_version'")
    newer.commit()
    newer.close()
    for key in ("after", "later"):
        with pytest.raises(UnknownSchema, match="another Callboard"):
            await database.write(put(key))
    assert keys(database) == {"before"}


@pytest.mark.parametrize("durability", Durability)
async def test_a_full_commit_asks_for_the_disk_itself_where_the_system_must_be_asked(
    path: Path, durability: Durability
) -> None:
    connection = connect(path, durability)
    found = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in FULL]
    connection.close()
    assert found == [int(durability is Durability.FULL)] * 2
