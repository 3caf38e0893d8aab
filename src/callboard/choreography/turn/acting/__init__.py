"""Acting: a plan's steps are carried out, each seeing only what its kind may see."""

from callboard.choreography.turn.acting.analyzing import NO_DATA
from callboard.choreography.turn.acting.dependence import broken_need, inputs_of, needs, unmet
from callboard.choreography.turn.acting.groups import MAX_PARALLEL, Consent, Execution, Held
from callboard.choreography.turn.acting.handles import expand_write, resolve_ids
from callboard.choreography.turn.acting.registering import MOST_PER_READ

__all__ = [
    "MAX_PARALLEL",
    "MOST_PER_READ",
    "NO_DATA",
    "Consent",
    "Execution",
    "Held",
    "broken_need",
    "expand_write",
    "inputs_of",
    "needs",
    "resolve_ids",
    "unmet",
]
