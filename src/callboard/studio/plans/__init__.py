"""Plans of a project: what may happen to one, and where it is kept."""

from callboard.studio.plans.changes import (
    PlanConflict,
    Routed,
    answer,
    edit,
    force,
    pause,
    remove,
    reorder,
    resume,
    start,
)
from callboard.studio.plans.plans import Plans
from callboard.studio.plans.progress import (
    next_task,
    retried,
    settled,
    started,
)
from callboard.studio.plans.shape import plan_to_json, task_to_json

__all__ = [
    "PlanConflict",
    "Plans",
    "Routed",
    "answer",
    "edit",
    "force",
    "next_task",
    "pause",
    "plan_to_json",
    "remove",
    "reorder",
    "resume",
    "retried",
    "settled",
    "start",
    "started",
    "task_to_json",
]
