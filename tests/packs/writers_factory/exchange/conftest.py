"""An open project with nothing in it but a book to be."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from callboard.models import Script
from callboard.packs.writers_factory.factory import Factory, factory_of
from callboard.studio.project import Project
from callboard.testing.opening import open_scripted


@pytest.fixture
async def factory(tmp_path: Path) -> AsyncIterator[Factory]:
    root = tmp_path / "book"
    root.mkdir()
    Project.init(root)
    async with open_scripted(root, Script("unasked")) as studio:
        yield factory_of(studio)


@pytest.fixture
def root(factory: Factory) -> Path:
    return factory.workspace.files.root
