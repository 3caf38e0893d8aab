"""What a test of a choreography or a pack needs: the scripted model, and faults on demand."""

from callboard.models import DirectGate, Failure, Line, Script, ScriptedCall, load_script
from callboard.testing.faults import (
    COMMIT_POINTS,
    ActAt,
    Blackout,
    FailAt,
    KillAt,
    Moment,
    Passages,
)
from callboard.testing.opening import SCRIPTED

__all__ = [
    "COMMIT_POINTS",
    "SCRIPTED",
    "ActAt",
    "Blackout",
    "DirectGate",
    "FailAt",
    "Failure",
    "KillAt",
    "Line",
    "Moment",
    "Passages",
    "Script",
    "ScriptedCall",
    "load_script",
]
