"""Step: one journaled unit of a run."""

from dataclasses import dataclass, field
from enum import StrEnum

from callboard.core.canonical import Json
from callboard.core.errors import ErrorRecord


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
