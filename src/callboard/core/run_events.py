"""Events of runs: started, changed, step by step, asked, answered and signalled."""

from dataclasses import dataclass, field
from typing import ClassVar

from callboard.core.canonical import Json


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run was created."""

    type: ClassVar[str] = "run.started"
    choreography: str
    title: str = ""
    parent_id: str | None = None
    origin: str = "start"


@dataclass(frozen=True, slots=True)
class RunChanged:
    """A run entered a state."""

    type: ClassVar[str] = "run.changed"
    state: str
    reason: str = ""
    error: dict[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class RunCleared:
    """What an ended run left behind was taken away, so much of each, at the user's wish."""

    type: ClassVar[str] = "run.cleared"
    events: int = 0
    prompts: int = 0
    steps: int = 0


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A step began to execute; may be missing after a crash, a step's end never is."""

    type: ClassVar[str] = "step.started"
    kind: str
    effect: str


@dataclass(frozen=True, slots=True)
class StepDone:
    """A step finished; whoever sees this can rely on it: it will never be executed again."""

    type: ClassVar[str] = "step.done"
    kind: str
    duration_ms: int
    preview: str = ""
    slot: str | None = None
    receipt_id: str | None = None
    detail: dict[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class StepFailed:
    """A step ended with an error."""

    type: ClassVar[str] = "step.failed"
    kind: str
    duration_ms: int
    error: dict[str, Json]
    receipt_id: str | None = None


@dataclass(frozen=True, slots=True)
class StepUnknown:
    """A `once` step was interrupted: whether its effect happened is not known."""

    type: ClassVar[str] = "step.unknown"
    kind: str


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """A run waits for the human."""

    type: ClassVar[str] = "question.asked"
    question_id: str
    text: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """The human answered."""

    type: ClassVar[str] = "question.answered"
    question_id: str
    value: Json
    answered_by: str


@dataclass(frozen=True, slots=True)
class SignalSent:
    """Somebody asked a run to pause, resume or cancel."""

    type: ClassVar[str] = "signal.sent"
    signal_id: str
    kind: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SignalAcknowledged:
    """A signal took effect."""

    type: ClassVar[str] = "signal.acknowledged"
    signal_id: str
    kind: str
    state: str
