"""How much of an attack is made: a little of it with the tests, all of it with `make chaos`."""

import os
from typing import TypeVar

T = TypeVar("T")

IS_FULL = bool(os.environ.get("CHAOS"))


def size(small: T, full: T) -> T:
    """Return how much is enough today."""
    return full if IS_FULL else small
