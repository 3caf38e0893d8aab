"""A kit of loops in a fresh project."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopkit import Kit


@pytest.fixture
def kit(tmp_path: Path) -> Callable[..., Kit]:
    return lambda **more: make(tmp_path, more)


def make(root: Path, more: dict[str, Any]) -> Kit:
    return Kit(root, **more)
