"""A studio on the fortress, with a pack that confers over it with the prompts of Control Room."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hallway import FORTRESS, HOUSE, PACK, PROMPTS, OpenHall

from callboard.models import Script
from callboard.store.faults import FaultPoints
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import open_scripted


@pytest.fixture
def fortress(tmp_path: Path) -> Path:
    root = tmp_path / "fortress"
    shutil.copytree(FORTRESS, root)
    Project.init(root)
    return root


@pytest.fixture
def hall_pack(tmp_path: Path) -> Path:
    root = tmp_path / "hall"
    root.mkdir()
    (root / "house.py").write_text(HOUSE)
    (root / "pack.yaml").write_text(PACK.format(prompts=PROMPTS))
    return root


@pytest.fixture
def open_hall(fortress: Path, hall_pack: Path) -> OpenHall:
    @asynccontextmanager
    async def open_it(
        script: Script, faults: FaultPoints | None = None, **flags: Any
    ) -> AsyncIterator[Studio]:
        async with open_scripted(fortress, script, hall_pack, flags=flags, faults=faults) as studio:
            yield studio

    return open_it
