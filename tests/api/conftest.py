"""A project without a book or a kitchen: what is tried here is the door."""

from pathlib import Path

import pytest
from front_door import House


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House.build(tmp_path / "house")
