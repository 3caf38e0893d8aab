"""What every group of settings is made of: a frozen, closed model, and the marks on its keys."""

from typing import Any, Final

from pydantic import BaseModel, ConfigDict

RESTRICTED: Final = "x-restricted"
"""Marks a key that a project's own file, which arrives with a clone, may not set by itself."""

HARMLESS: Final = "x-harmless"
"""Marks a key that a project's own file may set even before the user has trusted the project."""


def restricted(reason: str) -> dict[str, Any]:
    """Return the mark for a key that a clone may not set, with why it is there."""
    return {RESTRICTED: reason}


def harmless() -> dict[str, Any]:
    """Return the mark for a key that does no harm, whoever set it and to whatever value."""
    return {HARMLESS: True}


class Section(BaseModel):
    """A group of keys; frozen, and closed to keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)
