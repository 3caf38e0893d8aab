"""An open project with nothing in it but a manuscript to be."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from callboard.models import Script
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.studio.project import Project
from callboard.studio.studio import Opening, Studio
from callboard.testing import SCRIPTED


@pytest.fixture
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    root = tmp_path / "book"
    root.mkdir()
    Project.init(root)
    opening = Opening(providers={"script": Script("unasked")}, flags=SCRIPTED)
    async with Studio.open(root, opening) as studio:
        yield Ground(studio)


@pytest.fixture
def book(ground: Ground) -> Manuscript:
    return Manuscript(ground)


@pytest.fixture
def root(ground: Ground) -> Path:
    return ground.files.root
