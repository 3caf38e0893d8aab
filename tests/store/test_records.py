"""Records: JSON documents of a pack."""

import asyncio
from pathlib import Path

import pytest

from callboard.core.clock import SystemClock
from callboard.store.database import Database
from callboard.store.records import Body, Records
from stores import open_store

pytestmark = pytest.mark.anyio


@pytest.fixture
def database(tmp_path: Path):
    database = open_store(tmp_path / "callboard.db")
    yield database
    database.close()


def records_of(database: Database, pack: str = "one") -> Records:
    return Records(database, pack, SystemClock())


async def test_a_record_is_read_back_as_it_was_stored(database: Database):
    records = records_of(database)
    body: Body = {"title": "Fire & <Ice>", "parts": [1, {"two": None}]}
    await records.put("project", "project", body)
    assert records_of(database).get("project", "project") == body
    assert records.get("project", "other") is None


async def test_packs_and_kinds_do_not_see_each_other(database: Database):
    one, two = records_of(database), records_of(database, "two")
    await one.put("a", "x", {"n": 1})
    await two.put("a", "x", {"n": 2})
    await one.put("b", "x", {"n": 3})
    assert one.all("a") == {"x": {"n": 1}}
    assert two.all("a") == {"x": {"n": 2}}


async def test_all_keeps_the_order_in_which_records_were_first_stored(database: Database):
    records = records_of(database)
    for name in ("c", "a", "b"):
        await records.put("a", name, {})
    await records.put("a", "c", {"later": True})
    assert list(records.all("a")) == ["c", "a", "b"]


async def test_changes_at_once_are_all_counted(database: Database):
    records = records_of(database)

    def more(old: Body | None) -> Body:
        return {"n": (old or {"n": 0})["n"] + 1}

    await asyncio.gather(*(records.change("a", "counter", more) for _ in range(50)))
    assert records.get("a", "counter") == {"n": 50}


async def test_a_change_that_fails_leaves_what_was_there(database: Database):
    records = records_of(database)
    await records.put("a", "x", {"n": 1})

    def refuse(_old: Body | None) -> Body:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await records.change("a", "x", refuse)
    assert records.get("a", "x") == {"n": 1}


async def test_deleting_says_whether_there_was_something(database: Database):
    records = records_of(database)
    await records.put("a", "x", {})
    assert await records.delete("a", "x")
    assert not await records.delete("a", "x")
    assert records.all("a") == {}
