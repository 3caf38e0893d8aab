"""Events: what happened, in order, as typed values with one stored shape each."""

from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Final

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
class StepStarted:
    """A step began to execute; may be missing after a crash, a step's end never is."""

    type: ClassVar[str] = "step.started"
    kind: str
    effect: str


@dataclass(frozen=True, slots=True)
class StepDone:
    """A step finished and will never be executed again."""

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


@dataclass(frozen=True, slots=True)
class SessionChanged:
    """A session entered a state."""

    type: ClassVar[str] = "session.changed"
    state: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Emitted:
    """A choreography said something of its own."""

    type: ClassVar[str] = "emitted"
    name: str
    data: Json = None


@dataclass(frozen=True, slots=True)
class ReplyChunk:
    """A piece of a reply while it is written; live only, never stored."""

    type: ClassVar[str] = "reply.chunk"
    agent_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CallRetried:
    """A model call failed and is tried again; `is_quiet` while it is nothing to bother with.

    `attempt` is the one that failed, of its tier's `max_attempts`; `partial` the text it had got.
    """

    type: ClassVar[str] = "call.retried"
    model: str
    attempt: int
    max_attempts: int
    delay_ms: int
    tier: str
    code: str
    message: str
    is_quiet: bool = False
    partial: str = ""


@dataclass(frozen=True, slots=True)
class ModelSwitched:
    """A model failed and another one is asked in its place; `partial` is what it had said."""

    type: ClassVar[str] = "model.switched"
    model: str
    switched_from: str
    reason: str
    message: str
    partial: str = ""


@dataclass(frozen=True, slots=True)
class RungChanged:
    """A structured reply was not valid and is asked for in another way; `rejected` is its text."""

    type: ClassVar[str] = "call.rung"
    model: str
    rung_from: str
    rung_to: str
    reason: str
    rejected: str = ""


@dataclass(frozen=True, slots=True)
class CircuitChanged:
    """Calls to a resource were stopped, are tried out, or pass again."""

    type: ClassVar[str] = "circuit.changed"
    resource: str
    state: str
    was: str
    reason: str
    retry_at: int = 0


@dataclass(frozen=True, slots=True)
class CallMetered:
    """A provider was called; the totals are those of the run, or of the project without one."""

    type: ClassVar[str] = "call.metered"
    call_id: str
    model: str
    outcome: str
    agent_id: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None
    total_calls: int = 0
    total_tokens: int = 0
    total_cost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class PriceUnknown:
    """Calls of a model cannot be priced; told once per process and model."""

    type: ClassVar[str] = "price.unknown"
    model: str
    text: str


@dataclass(frozen=True, slots=True)
class QuotaWarning:
    """A provider's period limit is near (level 1) or reached (level 2); for all sessions."""

    type: ClassVar[str] = "quota.warning"
    provider: str
    period: str
    level: int
    text: str
    ends_at: int
    requests_percent: int | None = None
    tokens_percent: int | None = None
    usd_percent: int | None = None


@dataclass(frozen=True, slots=True)
class LimitPaused:
    """A provider asked us to wait: calls with this credential start again at `resume_at`.

    `is_long` marks a wait of more than five minutes. Told again only if the wait gets longer.
    """

    type: ClassVar[str] = "limit.paused"
    credential: str
    provider: str
    resume_at: int
    attempt: int
    reason: str
    is_long: bool = False


@dataclass(frozen=True, slots=True)
class LimitResumed:
    """A pause is over; told exactly once for each."""

    type: ClassVar[str] = "limit.resumed"
    credential: str
    provider: str
    attempt: int


@dataclass(frozen=True, slots=True)
class CallRequeued:
    """A call under way went back into the queue and will start again; `partial` is what it said.

    `reason` is `preempted` (it made room for the user) or `rate_limited`; `count` says how often
    that has happened to it.
    """

    type: ClassVar[str] = "call.requeued"
    call: int
    model: str
    priority: int
    reason: str
    count: int
    partial: str = ""


EventBody = (
    RunStarted
    | RunChanged
    | StepStarted
    | StepDone
    | StepFailed
    | StepUnknown
    | QuestionAsked
    | QuestionAnswered
    | SignalSent
    | SignalAcknowledged
    | SessionChanged
    | Emitted
    | ReplyChunk
    | CallRetried
    | ModelSwitched
    | RungChanged
    | CircuitChanged
    | CallMetered
    | PriceUnknown
    | QuotaWarning
    | LimitPaused
    | LimitResumed
    | CallRequeued
)

_BODIES: Final[tuple[type[EventBody], ...]] = (
    RunStarted,
    RunChanged,
    StepStarted,
    StepDone,
    StepFailed,
    StepUnknown,
    QuestionAsked,
    QuestionAnswered,
    SignalSent,
    SignalAcknowledged,
    SessionChanged,
    Emitted,
    ReplyChunk,
    CallRetried,
    ModelSwitched,
    RungChanged,
    CircuitChanged,
    CallMetered,
    PriceUnknown,
    QuotaWarning,
    LimitPaused,
    LimitResumed,
    CallRequeued,
)
_BODY_BY_TYPE: Final[dict[str, type[EventBody]]] = {body.type: body for body in _BODIES}


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened; `seq` orders all stored events of a project, 0 means live only."""

    seq: int
    at: int
    body: EventBody
    session_id: str | None = None
    run_id: str | None = None
    step_key: str | None = None

    @property
    def type(self) -> str:
        """The stored name of what happened."""
        return self.body.type

    def to_json(self) -> dict[str, Json]:
        """Return the shape streamed to the doors."""
        return {
            "seq": self.seq,
            "at": self.at,
            "type": self.type,
            "session_id": self.session_id,
            "run_id": self.run_id,
            "step_key": self.step_key,
            "data": body_to_json(self.body),
        }


def body_to_json(body: EventBody) -> dict[str, Json]:
    """Return the stored data of an event body; a field that holds its default is left out."""
    data: dict[str, Json] = {}
    for name, default in _shape(type(body)):
        value = getattr(body, name)
        # Typed equality: 0, False and "" are values of their own, not a missing one.
        if type(value) is not type(default) or value != default:
            data[name] = value
    return data


def body_from_json(event_type: str, data: dict[str, Any]) -> EventBody:
    """Read a stored body; what this Callboard cannot read becomes `Emitted`, not an error."""
    known = _BODY_BY_TYPE.get(event_type)
    if known is None or not _required_names(known) <= data.keys():
        return Emitted(name=event_type, data=data)
    names = {each.name for each in fields(known)}
    values = {name: value for name, value in data.items() if name in names}
    if "choices" in values:
        values["choices"] = tuple(values["choices"])
    return known(**values)


def _required_names(body_type: type[EventBody]) -> set[str]:
    return {
        each.name
        for each in fields(body_type)
        if each.default is MISSING and each.default_factory is MISSING
    }


@cache
def _shape(body_type: type[EventBody]) -> tuple[tuple[str, Any], ...]:
    """Return each field with its default; one without a default never equals its marker."""
    return tuple(
        (each.name, each.default if each.default_factory is MISSING else each.default_factory())
        for each in fields(body_type)
    )
