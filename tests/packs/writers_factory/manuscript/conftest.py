"""An open project with nothing in it but a manuscript to be."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from callboard.models import Script
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.packs.writers_factory.workspace import Workspace
from callboard.studio.project import Project
from callboard.testing.opening import open_scripted


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Workspace]:
    root = tmp_path / "book"
    root.mkdir()
    Project.init(root)
    async with open_scripted(root, Script("unasked")) as studio:
        yield Workspace(studio)


@pytest.fixture
def book(workspace: Workspace) -> Manuscript:
    return Manuscript(workspace)


@pytest.fixture
def root(workspace: Workspace) -> Path:
    return workspace.files.root
