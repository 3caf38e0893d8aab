"""The modes of a book: gates computed from what is stored, overrides, completion, moves."""

from callboard.packs.writers_factory.modes.errors import (
    ModeGated,
    ModesInvalid,
    UnknownMode,
    WritersDecision,
)
from callboard.packs.writers_factory.modes.modes import Modes
from callboard.packs.writers_factory.modes.overrides import GateOverride
from callboard.packs.writers_factory.modes.predicates import VoiceFacts
from callboard.packs.writers_factory.modes.specs import ModeSpec
from callboard.packs.writers_factory.modes.values import Gate, Neighbours, Transition

__all__ = [
    "Gate",
    "GateOverride",
    "ModeGated",
    "ModeSpec",
    "Modes",
    "ModesInvalid",
    "Neighbours",
    "Transition",
    "UnknownMode",
    "VoiceFacts",
    "WritersDecision",
]
