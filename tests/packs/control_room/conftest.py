"""A fortress per test."""

from pathlib import Path

import pytest
from control_room_stage import Theatre


@pytest.fixture
def theatre(tmp_path: Path) -> Theatre:
    return Theatre.build(tmp_path / "fortress")


@pytest.fixture
def clean_theatre(tmp_path: Path) -> Theatre:
    return Theatre.build(tmp_path / "fortress", clean=True)
