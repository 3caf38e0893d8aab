"""What a test of a choreography or a pack needs: the scripted model, and faults on demand."""

from callboard.models import Call, DirectGate, Failure, Line, Script, load_script
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
    "Call",
    "DirectGate",
    "FailAt",
    "Failure",
    "KillAt",
    "Line",
    "Moment",
    "Passages",
    "Script",
    "load_script",
]
