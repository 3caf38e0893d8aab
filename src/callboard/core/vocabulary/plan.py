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


@dataclass(frozen=True, slots=True)
class Task:
    """One unit of a plan; `done` is reached through checks and receipts only."""

    id: int
    description: str
    choreography: str | None = None
    args: dict[str, Json] = field(default_factory=dict[str, Json])
    depends_on: tuple[int, ...] = ()
    definition_of_done: tuple[str, ...] = ()
    state: TaskState = TaskState.PENDING
    run_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What a session intends to do."""

    id: str
    session_id: str
    tasks: tuple[Task, ...] = ()
    state: str = "draft"
    created_at: int = 0
