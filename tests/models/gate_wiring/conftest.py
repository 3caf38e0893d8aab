"""The whole gate of a real project, between a test and real servers or a script."""

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.models import Provider
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.openai_server import OpenAIServer

OpenHouse = Callable[..., AbstractAsyncContextManager[Studio]]


@pytest.fixture
async def openai_server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer.listening() as server:
        yield server


@pytest.fixture
def open_house(tmp_path: Path) -> OpenHouse:
    root = tmp_path / "project"
    root.mkdir()
    Project.init(root)

    @asynccontextmanager
    async def open_it(
        *,
        keys: Mapping[str, str] | None = None,
        providers: Mapping[str, Provider] | None = None,
        **flags: Any,
    ) -> AsyncIterator[Studio]:
        opening = Opening(
            providers=providers or {}, environment={**os.environ, **(keys or {})}, flags=flags
        )
        async with Studio.open(root, opening) as studio:
            yield studio

    return open_it
