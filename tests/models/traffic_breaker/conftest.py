"""What the tests of retries, breakers and fallback share: time by hand, notices kept, a server."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from breaker_props import HandClock, Notices

from callboard.store.database import Database
from callboard.testing.openai_server import OpenAIServer
from stores import open_store


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def notices() -> Notices:
    return Notices()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = open_store(tmp_path / "callboard.db")
    yield database
    database.close()


@pytest.fixture
async def openai_server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer.listening() as server:
        yield server


@pytest.fixture(autouse=True)
def on_both_stores(store: str) -> None:
    """Run every test of this folder on a file and on a server."""
