"""A project with the sample idea, a scripted judge, and a Story Bible on it."""

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import callboard.packs.writers_factory as pack
from callboard.models import Script
from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.workspace import Workspace
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import open_scripted

OpenBible = Callable[..., AbstractAsyncContextManager[Bible]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "skerry"
    shutil.copytree(Path(pack.__file__).parent / "sample", folder)
    Project.init(folder)
    return folder


@pytest.fixture
def open_studio(root: Path) -> Callable[..., AbstractAsyncContextManager[Studio]]:
    @asynccontextmanager
    async def open_it(
        script: Script | None = None, *packs: Path, **flags: Any
    ) -> AsyncIterator[Studio]:
        async with open_scripted(root, script, *packs, flags=flags) as studio:
            yield studio

    return open_it


@pytest.fixture
def open_bible(open_studio: Callable[..., AbstractAsyncContextManager[Studio]]) -> OpenBible:
    @asynccontextmanager
    async def open_it() -> AsyncIterator[Bible]:
        async with open_studio() as studio:
            yield Bible(Workspace(studio))

    return open_it
