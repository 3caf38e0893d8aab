"""A household per test."""

from pathlib import Path

import pytest
from al_door_stage import Household


@pytest.fixture
def household(tmp_path: Path) -> Household:
    return Household.build(tmp_path / "home_kitchen")
