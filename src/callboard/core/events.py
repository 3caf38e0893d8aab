"""Events: what happened, in order, typed, with one stored shape each; every kind is listed here."""

from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Final

from callboard.core.call_events import (
    CallMetered,
    CallRequeued,
    CallRetried,
    CircuitChanged,
    LimitPaused,
    LimitResumed,
    ModelSwitched,
    PriceUnknown,
    QuotaWarning,
    RungChanged,
)
from callboard.core.canonical import Json
from callboard.core.run_events import (
    QuestionAnswered,
    QuestionAsked,
    RunChanged,
    RunCleared,
    RunStarted,
    SignalAcknowledged,
    SignalSent,
    StepDone,
    StepFailed,
    StepStarted,
    StepUnknown,
)


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
class ReplyVoided:
    """What a reply has said so far does not count: it starts again; live only, never stored."""

    type: ClassVar[str] = "reply.voided"
    agent_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class AgentState:
    """An agent's card changed: `executing` a tool, `processing` a model call, or `idle` again."""

    type: ClassVar[str] = "agent.state"
    agent_id: str
    state: str


@dataclass(frozen=True, slots=True)
class IssueChanged:
    """An issue was left behind, closed or opened again, or had receipts linked to it."""

    type: ClassVar[str] = "issue.changed"
    number: int
    title: str
    status: str = "open"
    kind: str = ""


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """A plan or one of its tasks changed; `tasks` has the state of each by its number."""

    type: ClassVar[str] = "plan.changed"
    plan_id: str
    state: str
    tasks: dict[str, str]


@dataclass(frozen=True, slots=True)
class EvidenceChecked:
    """A reply was held against its evidence; a refusal is about grounding, not about a tool."""

    type: ClassVar[str] = "evidence.checked"
    agent_id: str
    role: str
    accepted: bool
    abstained: bool = False
    codes: list[str] = field(default_factory=list[str])
    detail: str = ""


EventBody = (
    RunStarted
    | RunChanged
    | RunCleared
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
    | ReplyVoided
    | AgentState
    | IssueChanged
    | PlanChanged
    | EvidenceChecked
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
    RunCleared,
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
    ReplyVoided,
    AgentState,
    IssueChanged,
    PlanChanged,
    EvidenceChecked,
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
