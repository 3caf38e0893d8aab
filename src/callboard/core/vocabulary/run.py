"""Run: one durable execution of a choreography, in a session, made of steps.

With what steers it (signals, questions and answers) and what it makes (slots, receipts).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from callboard.core.canonical import Json
from callboard.core.errors import ErrorRecord
from callboard.core.patterns import compile_pattern


class RunState(StrEnum):
    """`pending → running ⇄ waiting|paused → done | failed | cancelled`."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


TERMINAL_STATES: Final = frozenset({RunState.DONE, RunState.FAILED, RunState.CANCELLED})
UNFINISHED: Final = (RunState.PENDING, RunState.RUNNING, RunState.WAITING, RunState.PAUSED)
"""The states of a run that is under way, or would be if somebody let it go on."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as the journal holds it.

    A retry or a fork has a `parent_id` and shares the parent's steps up to and including
    `parent_seq`.
    """

    id: str
    session_id: str
    choreography: str
    state: RunState
    title: str = ""
    args: dict[str, Json] = field(default_factory=dict[str, Json])
    result: Json = None
    error: ErrorRecord | None = None
    parent_id: str | None = None
    parent_seq: int = 0
    origin: str = "start"
    owner: str | None = None
    created_at: int = 0
    updated_at: int = 0

    @property
    def is_terminal(self) -> bool:
        """Whether the run can never change again."""
        return self.state in TERMINAL_STATES


class Effect(StrEnum):
    """What repeating the step after a crash would mean."""

    PURE = "pure"
    IDEMPOTENT = "idempotent"
    ONCE = "once"


class StepKind(StrEnum):
    """What kind of work a step is, for the reader of a journal."""

    TOOL = "tool"
    AGENT = "agent"
    DECISION = "decision"
    CHECK = "check"
    HUMAN = "human"
    SLEEP = "sleep"
    WORK = "work"


class StepState(StrEnum):
    """How far a step has come; `intent` of a dead process reads as `unknown`."""

    INTENT = "intent"
    UNKNOWN = "unknown"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A step as the journal holds it.

    `seq` is the order of completion within the run. `output` is the decoded value; a large one
    lies in a blob and `output_hash` names it. One that is not what was recorded is left out and
    the step marked as altered.
    """

    run_id: str
    key: str
    seq: int
    kind: StepKind
    effect: Effect
    state: StepState
    input_hash: str
    output: Json = None
    output_hash: str | None = None
    slot: str | None = None
    receipt_id: str | None = None
    error: ErrorRecord | None = None
    detail: dict[str, Json] = field(default_factory=dict[str, Json])
    started_at: int = 0
    ended_at: int = 0
    is_altered: bool = False


class SignalKind(StrEnum):
    """What is asked of a live run."""

    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class SignalRecord:
    """A signal and, once it took effect, the state it took effect in."""

    id: str
    run_id: str
    kind: SignalKind
    created_at: int
    reason: str = ""
    acknowledged_at: int | None = None
    acknowledged_state: RunState | None = None


class SessionState(StrEnum):
    """`created → active ⇄ suspended → completed`; active may also fail."""

    CREATED = "created"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    COMPLETED = "completed"
    FAILED = "failed"


SESSION_TRANSITIONS: Final[Mapping[SessionState, frozenset[SessionState]]] = {
    SessionState.CREATED: frozenset({SessionState.ACTIVE}),
    SessionState.ACTIVE: frozenset(
        {SessionState.SUSPENDED, SessionState.COMPLETED, SessionState.FAILED}
    ),
    SessionState.SUSPENDED: frozenset({SessionState.ACTIVE, SessionState.COMPLETED}),
    SessionState.COMPLETED: frozenset(),
    SessionState.FAILED: frozenset(),
}


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session as the store holds it."""

    id: str
    name: str
    state: SessionState
    context: dict[str, Json] = field(default_factory=dict[str, Json])
    summary: str = ""
    created_at: int = 0
    activated_at: int | None = None
    suspended_at: int | None = None
    completed_at: int | None = None
    last_active_at: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the human.

    With `choices`, only one of them is an answer, or a text that matches the regular expression
    `pattern` as a whole.
    """

    text: str
    choices: tuple[str, ...] = ()
    default: str | None = None
    detail: Json = None
    pattern: str | None = None

    def allows(self, value: Json) -> bool:
        """Say whether something is an answer to this question."""
        if not self.choices or value in self.choices:
            return True
        if self.pattern is None or not isinstance(value, str):
            return False
        return compile_pattern(self.pattern).fullmatch(value)


@dataclass(frozen=True, slots=True)
class Answer:
    """A question as stored, with its answer once somebody gave it."""

    id: str
    run_id: str
    key: str
    question: Question
    asked_at: int
    value: Json = None
    answered_at: int | None = None
    answered_by: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody has answered yet."""
        return self.answered_at is None


class ReceiptOutcome(StrEnum):
    """How the execution ended; `refused` means that nothing ran."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ExecutionRecord:
    """What ran, for whom, on what, and how it ended."""

    id: str
    session_id: str
    tool: str
    args: dict[str, Json]
    outcome: ReceiptOutcome
    preview: str = ""
    summary: str = ""
    file_refs: tuple[dict[str, Json], ...] = ()
    error: ErrorRecord | None = None
    agent_id: str | None = None
    run_id: str | None = None
    step_key: str | None = None
    nonce: str = ""
    created_at: int = 0
    duration_ms: int = 0
    detail: dict[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Receipt(ExecutionRecord):
    """An execution with its result, signed, and chained to the one before it.

    The hash and the signature cover everything but themselves and the payload, which is covered
    through `payload_sha256`.
    """

    seq: int = 0
    payload: Json = None
    payload_sha256: str = ""
    previous_hash: str = ""
    hash: str = ""
    signature: str = ""


class SlotType(StrEnum):
    """Where the content of a slot is kept."""

    POINTER = "pointer"
    ARTIFACT = "artifact"


@dataclass(frozen=True, slots=True)
class Slot:
    """A named output, readable by later steps, the user and a fork that edits it."""

    name: str
    type: SlotType
    value: Json
    sha256: str
    summary: str = ""
    receipt_id: str | None = None
    agent_id: str | None = None
    step_key: str = ""
