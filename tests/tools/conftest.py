"""A project folder with a database, and the tool service of the house opened on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from toolhouse import HandClock, House, open_service

from callboard.store.database import Durability
from callboard.tools import ToolRegistry
from callboard.tools.builtin import BUILTIN_TOOLS
from stores import open_store


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".callboard").mkdir(parents=True)
    (root / "Story").mkdir()
    (root / "Story/one.md").write_text("# The Gate\n\nKael waits. The gate is shut.\n")
    (root / "Story/two.md").write_text("# The Key\n\nMira finds a brass key.\nKael is late.\n")
    (root / "notes.txt").write_text("Buy ink.\n")
    return root


@pytest.fixture
def house(root: Path) -> Iterator[House]:
    clock = HandClock()
    database = open_store(root / ".callboard/callboard.db", durability=Durability.NORMAL)
    registry = ToolRegistry(BUILTIN_TOOLS)
    service = open_service(database, root, registry, clock)
    yield House(root, database, service, clock)
    database.close()
