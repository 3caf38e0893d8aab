"""The same bytes are stored once, and damage to them is noticed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from callboard.core.canonical import digest_bytes
from callboard.core.errors import NotFound
from callboard.store.blobs import get_blob, put_blob
from callboard.store.database import Database
from callboard.store.integrity import check_integrity
from stores import open_store

pytestmark = pytest.mark.anyio


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_store(tmp_path / "callboard.db")
    yield opened
    opened.close()


async def test_equal_bytes_are_stored_once(database: Database) -> None:
    data = b"\x00\xff" * 10_000
    names = [await database.write(lambda c: put_blob(c, data)) for _ in range(3)]
    other = await database.write(lambda c: put_blob(c, b""))
    assert set(names) == {digest_bytes(data)}
    assert database.read(lambda c: get_blob(c, names[0])) == data
    assert database.read(lambda c: get_blob(c, other)) == b""
    count = database.read(lambda c: c.execute("SELECT COUNT(*) AS n FROM blobs").fetchone()["n"])
    assert count == 2


async def test_a_blob_that_is_not_there_is_named(database: Database) -> None:
    with pytest.raises(NotFound, match="f00"):
        database.read(lambda c: get_blob(c, "f00"))


async def test_a_blob_that_no_longer_matches_its_name_is_found(database: Database) -> None:
    name = await database.write(lambda c: put_blob(c, b"as it was"))
    assert check_integrity(database).is_sound
    await database.write(lambda c: c.execute("UPDATE blobs SET data = x'00'").rowcount)
    report = check_integrity(database)
    assert not report.is_sound
    assert any(name in problem for problem in report.problems)
