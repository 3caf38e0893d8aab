"""What a turn is made of, as layers hand it to each other and as it is stored. Values only."""

from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from callboard.choreography.turn.requests import ReadRequest, WritePreview, WriteRequest
from callboard.core.vocabulary import EntityState


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True)


class Intent(_Shape):
    """What the user is after, in one word and one sentence."""

    kind: Literal["crud", "cook", "plan", "explore", "create", "chat"] = "chat"
    summary: str = ""


class EntityUpdate(_Shape):
    """A change of state that the user's words ask for."""

    id: str
    new_state: EntityState


class UnderstandOutput(_Shape):
    """What a message means for what is being talked about. It plans nothing."""

    entity_updates: list[EntityUpdate] = Field(default_factory=list[EntityUpdate])
    referenced_entities: list[str] = Field(default_factory=list[str])
    needs_clarification: bool = False
    clarification_questions: list[str] = Field(default_factory=list[str])
    clarification_reason: Literal["ambiguous_reference", "missing_info"] | None = None
    processed_message: str = ""
    intent: Intent = Intent()
    constraints_added: list[str] = Field(default_factory=list[str])
    constraints_removed: list[str] = Field(default_factory=list[str])
    mode_suggestion: str | None = None
    suggestion_reason: str | None = None


class GestureKind(StrEnum):
    """What a button says."""

    KEEP = "keep"
    DROP = "drop"
    PICK = "pick"
    CONFIRM = "confirm"
    CHANGE = "change"
    CANCEL = "cancel"


class Gesture(_Shape):
    """What a button says instead of words. No model is needed to understand it."""

    kind: GestureKind
    # The id of what it is about: a draft, an option, or the hash of a plan that was shown.
    target: str = Field(default="", max_length=200)


class StepType(StrEnum):
    """The four kinds of steps; each sees another part of the world."""

    READ = "read"
    ANALYZE = "analyze"
    GENERATE = "generate"
    WRITE = "write"


class ThinkStep(_Shape):
    """One step of a plan; steps of a group do not depend on each other."""

    description: str
    step_type: StepType
    subdomain: str
    group: int = Field(default=0, ge=0)
    referenced_entities: list[str] = Field(default_factory=list[str])
    # Given by code: `g<group>.s<index>`.
    id: str = ""
    # Results of older groups that are needed; otherwise those of the group before.
    inputs: list[str] = Field(default_factory=list[str])
    compute: str | None = None
    # What code knows already: for arithmetic, or for what is to be generated.
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])
    # Complete requests run without asking a model.
    query: ReadRequest | None = None
    write: WriteRequest | None = None
    requires_confirmation: bool = False
    # What is generated, for steps that generate.
    content_type: str | None = None


class ThinkOutput(_Shape):
    """A plan."""

    goal: str
    steps: list[ThinkStep]
    needs_proposal: bool = False
    proposal_message: str | None = None
    assumptions: list[str] = Field(default_factory=list[str])


class StepStatus(StrEnum):
    """How a step ended."""

    OK = "ok"
    EMPTY = "empty"
    FAILED = "failed"
    SKIPPED = "skipped"
    AWAITING_CONFIRMATION = "awaiting_confirmation"


class StepResult(_Shape):
    """What a step brought; `summary` is made by code and is all that the reply is told of it."""

    step_id: str
    status: StepStatus
    result: dict[str, Any] = Field(default_factory=dict[str, Any])
    # Ids of what it made or found, already in the registry's terms.
    entities: list[str] = Field(default_factory=list[str])
    errors: list[str] = Field(default_factory=list[str])
    row_count: int = 0
    summary: str = ""


class Option(_Shape):
    """One thing a question offers."""

    id: str
    label: str


class PendingClarification(_Shape):
    """A question that is open, and what it was about."""

    source: Literal["understand", "think"]
    questions: list[str]
    original_intent: str
    reason: str = ""
    options: list[Option] = Field(default_factory=list[Option])
    partial_plan: list[ThinkStep] = Field(default_factory=list[ThinkStep])
    partial_entities: list[str] = Field(default_factory=list[str])
    turn_asked: int = 0
    # How often in a row this intent has been asked about.
    times: int = 1


class Affected(_Shape):
    """What a plan would change in one table."""

    table: str
    op: str
    count: int
    labels: list[str] = Field(default_factory=list[str])


class PendingProposal(_Shape):
    """A plan that waits for the user's word; nothing of it is written yet."""

    goal: str
    message: str
    steps: list[ThinkStep]
    affected: list[Affected] = Field(default_factory=list[Affected])
    mode: str
    original_intent: str
    turn_asked: int
    expires_turn: int
    # Names this showing of it: a plan that is shown again has another one.
    plan_hash: str
    # Results of reads and drafts that were made before asking, by step id.
    results: dict[str, StepResult] = Field(default_factory=dict[str, StepResult])
    row_versions: dict[str, int] = Field(default_factory=dict[str, int])
    # What each write would touch as it was shown, by step id.
    previews: dict[str, WritePreview] = Field(default_factory=dict[str, WritePreview])
    assumptions: list[str] = Field(default_factory=list[str])
    # How often in a row this intent has been asked about.
    times: int = 1

    @property
    def has_written(self) -> bool:
        """Whether something was done before the rest of the plan was asked about."""
        writes = {step.id for step in self.steps if step.step_type is StepType.WRITE}
        return any(name in writes for name, each in self.results.items() if each.row_count)


class TurnSummary(_Shape):
    """A turn as later ones remember it."""

    turn: int
    user: str
    assistant: str
    actions: list[str] = Field(default_factory=list[str])


class ConversationSummary(_Shape):
    """What a long conversation came to."""

    engagement_summary: str = ""
    key_decisions: list[str] = Field(default_factory=list[str])
    active_constraints: list[str] = Field(default_factory=list[str])
    next_likely_intent: str = ""
    through_turn: int = 0


class TurnOutcome(_Shape):
    """What a door gets back for one message."""

    turn: int
    message: str
    action: Literal["respond", "clarify", "propose"] = "respond"
    mode: str
    mode_suggestion: str | None = None
    pending_clarification: PendingClarification | None = None
    pending_proposal: PendingProposal | None = None
    entities: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    calls: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    warnings: list[str] = Field(default_factory=list[str])
    # Why: the plan that was followed and what was assumed.
    plan: ThinkOutput | None = None
    steps: list[StepResult] = Field(default_factory=list[StepResult])
    assumptions: list[str] = Field(default_factory=list[str])
