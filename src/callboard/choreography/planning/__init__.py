"""Planning: from what the user wants to a checklist of runs, and through it."""

from callboard.choreography.planning.decomposition import DecompositionInvalid, read_tasks
from callboard.choreography.planning.desk import PlanDesk, check_wish, plan_choreography
from callboard.choreography.planning.director import Director

__all__ = [
    "DecompositionInvalid",
    "Director",
    "PlanDesk",
    "check_wish",
    "plan_choreography",
    "read_tasks",
]
