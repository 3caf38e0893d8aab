"""The modes of a book: gates computed from what is stored, overrides, completion, moves."""

from callboard.packs.writers_factory.modes.gates import Neighbours
from callboard.packs.writers_factory.modes.modes import Modes
from callboard.packs.writers_factory.modes.specs import (
    ModeGated,
    ModesInvalid,
    ModeSpec,
    UnknownMode,
    WritersDecision,
)

__all__ = [
    "ModeGated",
    "ModeSpec",
    "Modes",
    "ModesInvalid",
    "Neighbours",
    "UnknownMode",
    "WritersDecision",
]
