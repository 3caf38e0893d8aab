from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from memory_stage import Desk, open_desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path / "book") as opened:
        yield opened
