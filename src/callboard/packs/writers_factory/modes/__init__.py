"""The modes of a book: gates computed from what is stored, overrides, completion, moves."""

from callboard.packs.writers_factory.modes.gates import Neighbours
from callboard.packs.writers_factory.modes.modes import Modes
from callboard.packs.writers_factory.modes.specs import (
    FactoryMode,
    ModeGated,
    ModesInvalid,
    ModeUnknown,
    WritersDecision,
)

__all__ = [
    "FactoryMode",
    "ModeGated",
    "ModeUnknown",
    "Modes",
    "ModesInvalid",
    "Neighbours",
    "WritersDecision",
]
