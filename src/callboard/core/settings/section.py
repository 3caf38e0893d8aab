"""What every group of settings is made of: a frozen, closed model, and the mark on its keys."""

from typing import Any, Final

from pydantic import BaseModel, ConfigDict

RESTRICTED: Final = "x-restricted"
"""Marks a key that a project's own file, which arrives with a clone, may not set by itself."""


def restricted(reason: str) -> dict[str, Any]:
    """Return the mark for a key, with why it is there."""
    return {RESTRICTED: reason}


class Section(BaseModel):
    """A group of keys; frozen, and closed to keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)
