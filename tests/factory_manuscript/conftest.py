"""An open project with nothing in it but a manuscript to be."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from callboard.models import Script
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.studio.project import Project
from callboard.testing.opening import open_scripted


@pytest.fixture
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    root = tmp_path / "book"
    root.mkdir()
    Project.init(root)
    async with open_scripted(root, Script("unasked")) as studio:
        yield Ground(studio)


@pytest.fixture
def book(ground: Ground) -> Manuscript:
    return Manuscript(ground)


@pytest.fixture
def root(ground: Ground) -> Path:
    return ground.files.root
