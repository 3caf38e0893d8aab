"""Notes: units nobody waits for join another's commit, keep their order, and are never lost."""

import asyncio
from pathlib import Path

import pytest

from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.testing import Passages
from stores import open_store

pytestmark = pytest.mark.anyio


def add(name: str):
    def work(connection: Connection) -> None:
        connection.execute("INSERT INTO meta (key, value) VALUES (?, 'note')", (name,))

    return work


def noted(database: Database) -> list[str]:
    sql = "SELECT key FROM meta WHERE value = 'note' ORDER BY rowid"
    return database.read(lambda c: [row["key"] for row in c.execute(sql)])


async def test_a_note_joins_the_commit_of_what_comes_after_it(path: Path) -> None:
    passages = Passages()
    database = open_store(path, faults=passages)
    try:
        database.note(add("first"))
        database.note(add("second"))
        await database.write(add("third"))
        assert noted(database) == ["first", "second", "third"]
        assert passages.counts["store.before_commit"] == 1
    finally:
        database.close()


async def test_a_note_that_nothing_joins_is_committed_soon(path: Path) -> None:
    database = open_store(path)
    loop, committed = asyncio.get_running_loop(), asyncio.Event()
    database.on_commit(lambda: loop.call_soon_threadsafe(committed.set))
    try:
        for name in ("alone", "once more"):
            committed.clear()
            database.note(add(name))
            async with asyncio.timeout(30):
                await committed.wait()
        assert noted(database) == ["alone", "once more"]
    finally:
        database.close()


async def test_closing_commits_notes(path: Path) -> None:
    database = open_store(path)
    database.note(add("last words"))
    database.close()
    again = open_store(path)
    try:
        assert noted(again) == ["last words"]
    finally:
        again.close()


async def test_a_note_that_fails_is_logged_and_spoils_nothing(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    database = open_store(path)
    try:
        database.note(lambda connection: connection.execute("INSERT INTO nowhere VALUES (1)"))
        await database.write(add("kept"))
        assert noted(database) == ["kept"]
        assert "a note was not stored" in caplog.text
    finally:
        database.close()


def test_a_note_of_a_loop_that_is_gone_goes_with_the_next_commit(path: Path) -> None:
    async def leave(name: str) -> None:
        database.note(add(name))

    database = open_store(path)
    try:
        asyncio.run(leave("gone"))
        asyncio.run(leave("gone, too"))
        asyncio.run(database.write(add("stays")))
        assert noted(database) == ["gone", "gone, too", "stays"]
    finally:
        database.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "callboard.db"
