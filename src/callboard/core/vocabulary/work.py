"""Work: the agents who do it, the plans that order it, and the issues it leaves for the human."""

from dataclasses import dataclass, field
from enum import StrEnum

from callboard.core.canonical import Json


class ModelTier(StrEnum):
    """How much a model can be given and trusted with."""

    FULL = "full"
    MEDIUM = "medium"
    MINIMAL = "minimal"


@dataclass(frozen=True, slots=True)
class RoleContract:
    """What a role owns, what it must not do, and when it stays silent."""

    archetype: str
    owns: str = ""
    must_not: str = ""
    abstains_when: str = ""


@dataclass(frozen=True, slots=True)
class Agent:
    """One member of the staff."""

    id: str
    contract: RoleContract
    name: str = ""
    prompt: str = ""
    tier: ModelTier | None = None
    model: str | None = None
    tools: frozenset[str] = field(default_factory=frozenset[str])
    enabled: bool = True
    order: int = 0


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


class IssueKind(StrEnum):
    """What left the issue behind; a note is the human's own."""

    DOD_FAILURE = "dod_failure"
    FINDING = "finding"
    PROPOSAL = "proposal"
    TRANSCRIPT = "transcript"
    NOTE = "note"


class IssueStatus(StrEnum):
    """Whether the human is done with it."""

    OPEN = "open"
    CLOSED = "closed"


class IssuePriority(StrEnum):
    """How soon the human should look."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    URGENT = "urgent"


@dataclass(frozen=True, slots=True)
class IssueSource:
    """Where an issue comes from; `step_id` is the key of the step that left it."""

    kind: IssueKind
    run_id: str | None = None
    session_id: str | None = None
    step_id: str | None = None


@dataclass(frozen=True, slots=True)
class IssueDraft:
    """An issue before it has a number; the same `key` never makes a second one."""

    title: str
    source: IssueSource
    body: str = ""
    priority: IssuePriority = IssuePriority.NORMAL
    tags: tuple[str, ...] = ()
    receipt_ids: tuple[str, ...] = ()
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Issue:
    """Something the human should look at, under a number of its own in the project."""

    id: int
    title: str
    source: IssueSource
    body: str = ""
    status: IssueStatus = IssueStatus.OPEN
    priority: IssuePriority = IssuePriority.NORMAL
    tags: tuple[str, ...] = ()
    receipt_ids: tuple[str, ...] = ()
    created_at: int = 0
    updated_at: int = 0
