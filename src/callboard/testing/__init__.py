"""What a test of a choreography or a pack needs: the scripted model, and faults on demand.

Every name is loaded when it is first used: pytest finds the plugin in here whenever it runs, also
for those who test something else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from callboard.testing.witness import Scenario

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
    "Scenario",
    "Script",
    "ScriptedCall",
    "load_script",
]
_HOMES = ("callboard.models", "callboard.testing.faults", "callboard.testing.opening")


def __getattr__(name: str) -> Any:
    if name in __all__:
        for home in (*_HOMES, "callboard.testing.witness"):
            found = getattr(import_module(home), name, None)
            if found is not None:
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
