"""A fresh clone for every test."""

from pathlib import Path

import pytest
from clone import Clone


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone.make(tmp_path)
