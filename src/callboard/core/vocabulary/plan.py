"""Plan: ordered tasks with dependencies and a definition of done; tasks start runs."""

from dataclasses import dataclass, field
from enum import StrEnum

from callboard.core.canonical import Json


class TaskState(StrEnum):
    """Where a task of a plan stands."""

    PENDING = "pending"
    BLOCKED = "blocked"
    NEEDS_SCOPING = "needs_scoping"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class PlanState(StrEnum):
    """`draft → running ⇄ paused → done | failed`; a failed plan can be taken up again."""

    DRAFT = "draft"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Task:
    """One unit of a plan; `done` is reached through the run's own checks only.

    `reason` says why a task needs scoping; `review` is what code wrote down when its run ended.
    """

    id: int
    description: str
    recipe_id: str | None = None
    args: dict[str, Json] = field(default_factory=dict[str, Json])
    deps: tuple[int, ...] = ()
    dod: str = ""
    state: TaskState = TaskState.PENDING
    scoping_question: str | None = None
    scoping_answer: str | None = None
    reason: str = ""
    run_id: str | None = None
    run_history: tuple[str, ...] = ()
    forced: bool = False
    review: dict[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a session intends to do, in the order in which it will be done."""

    id: str
    session_id: str
    tasks: tuple[Task, ...] = ()
    state: PlanState = PlanState.DRAFT
    intent: str = ""
    created_by: str = "chief"
    decomposed_by: str | None = None
    created_at: int = 0
    updated_at: int = 0
    version: int = 0
