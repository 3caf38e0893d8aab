"""A book per test."""

from pathlib import Path

import pytest
from factory_door_stage import Shop


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop.build(tmp_path / "salt")
