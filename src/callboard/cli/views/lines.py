"""Events in words: what one line about an event says, wherever it is shown."""

from dataclasses import dataclass
from typing import Final, assert_never

from callboard.cli.output import moment, number, one_line, seconds
from callboard.core.canonical import Json, compact_json
from callboard.core.events import (
    CallRetried,
    CircuitChanged,
    Emitted,
    Event,
    EventBody,
    IssueChanged,
    LimitPaused,
    LimitResumed,
    ModelSwitched,
    SessionChanged,
    body_to_json,
)
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

GateBody = CallRetried | ModelSwitched | CircuitChanged | LimitPaused | LimitResumed
GATE_BODIES = (CallRetried, ModelSwitched, CircuitChanged, LimitPaused, LimitResumed)


def gate_words(body: GateBody) -> tuple[str, str]:
    """Return the facts and the sentence of a line about a model call."""
    match body:
        case CallRetried():
            facts = f"{body.model} · attempt {body.attempt} of {body.max_attempts} failed"
            return one_line(facts), f"again in {seconds(body.delay_ms)}: {one_line(body.message)}"
        case ModelSwitched():
            facts = f"{body.switched_from} → {body.model}"
            return one_line(facts), f"{body.reason}: {one_line(body.message)}"
        case CircuitChanged():
            facts = f"{body.resource} {body.was} → {body.state}"
            until = f", tried again at {moment(body.retry_at)}" if body.retry_at else ""
            return one_line(facts), one_line(body.reason) + until
        case LimitPaused():
            # No failure: the provider is busy, and work goes on by itself.
            return one_line(body.credential), f"asks us to wait until {moment(body.resume_at)}"
        case LimitResumed():
            return one_line(body.credential), "goes on"
        case _:
            assert_never(body)


OK: Final = "✓"
BAD: Final = "✗"
ASKS: Final = "?"
NOTE: Final = "·"

_PREVIEW_CHARS: Final = 160
_SILENT: Final = frozenset(
    {
        "run.started",
        "step.started",
        "signal.sent",
        "reply.chunk",
        "reply.voided",
        "agent.state",
        # The step that checked it says the same.
        "evidence.checked",
        "call.metered",
    }
)
_WORDS: Final = ("text", "message", "reason", "state")


@dataclass(frozen=True, slots=True)
class EventLine:
    """One event in words: a mark, what kind of thing, where, the facts, a glimpse of content."""

    mark: str
    kind: str
    key: str = ""
    facts: str = ""
    text: str = ""

    def __str__(self) -> str:
        """Render without colours."""
        head = f"{self.mark} {self.kind:<8} {self.key:<12}"
        return "  ".join(part for part in (head, self.facts, self.text) if part).rstrip()


def describe(event: Event) -> EventLine:
    """Return what a line about an event says."""
    if isinstance(event.body, StepDone | StepFailed | StepStarted | StepUnknown):
        return _step(event.body, event.step_key or "")
    if isinstance(event.body, RunCleared):
        gone = f"{event.body.events} events, {event.body.prompts} prompts, {event.body.steps} steps"
        return EventLine(NOTE, "run", text=f"cleared: {gone} were taken away")
    if isinstance(event.body, GATE_BODIES):
        facts, text = gate_words(event.body)
        return EventLine(NOTE, "model", event.step_key or "", facts, text)
    return _other(event.body, event.step_key or "")


def is_worth_a_line(event: Event) -> bool:
    """Say whether someone who watches a run wants to read it; beginnings and ends show anyway."""
    body = event.body
    if isinstance(body, RunChanged):
        return body.state == "paused"
    return body.type not in _SILENT and not getattr(body, "is_quiet", False)


def _step(body: StepDone | StepFailed | StepStarted | StepUnknown, key: str) -> EventLine:
    match body:
        case StepDone():
            facts = (*detail_facts(body.detail), seconds(body.duration_ms))
            return EventLine(OK, body.kind, key, " · ".join(facts), _glimpse(body.preview))
        case StepFailed():
            told = str(body.error.get("message", ""))
            return EventLine(BAD, body.kind, key, seconds(body.duration_ms), one_line(told))
        case StepStarted():
            return EventLine(NOTE, body.kind, key, text="has begun")
        case StepUnknown():
            return EventLine(
                BAD, body.kind, key, text="interrupted: nobody knows whether it happened"
            )


def _other(body: EventBody, key: str) -> EventLine:
    match body:
        case RunStarted():
            return EventLine(NOTE, "run", text=f"{body.origin} {one_line(body.choreography)}")
        case RunChanged():
            told = str((body.error or {}).get("message", ""))
            mark = BAD if body.state == "failed" else NOTE
            return EventLine(mark, "run", text=f"{body.state} {one_line(told)}".rstrip())
        case QuestionAsked():
            choices = f" [{' / '.join(body.choices)}]" if body.choices else ""
            return EventLine(ASKS, "human", key, body.question_id, one_line(body.text) + choices)
        case QuestionAnswered():
            return EventLine(OK, "human", key, f"by {body.answered_by}", _glimpse(body.value))
        case SignalSent():
            return EventLine(NOTE, "signal", text=f"{body.kind} {one_line(body.reason)}".rstrip())
        case SignalAcknowledged():
            return EventLine(NOTE, "signal", text=f"{body.kind} took effect: {body.state}")
        case SessionChanged():
            return EventLine(NOTE, "session", text=f"{one_line(body.name)} {body.state}")
        case IssueChanged():
            return EventLine(
                NOTE, "issue", key, f"#{body.number} {body.status}", one_line(body.title)
            )
        case Emitted():
            return EventLine(NOTE, "says", key, one_line(body.name), _glimpse(body.data))
        case _:
            return _in_its_own_words(body, key)


def _in_its_own_words(body: EventBody, key: str) -> EventLine:
    """Return a line about any other event: its name, and the first thing it says in words."""
    data = body_to_json(body)
    said = next((data[name] for name in _WORDS if data.get(name)), "")
    kind, _, what = body.type.partition(".")
    return EventLine(NOTE, kind, key, what, _glimpse(said))


def detail_facts(detail: dict[str, Json]) -> tuple[str, ...]:
    """Return who worked on a step, with which model, for how many tokens."""
    facts = [str(detail[name]) for name in ("agent", "tool", "model") if detail.get(name)]
    if "output_tokens" in detail:
        facts.append(tokens(int(detail.get("input_tokens") or 0), int(detail["output_tokens"])))
    if detail.get("edited"):
        facts.append("edited by hand")
    return tuple(one_line(fact) for fact in facts)


def tokens(given: int, said: int) -> str:
    """Return what went in and what came out, in tokens."""
    return f"{number(given)} → {number(said)} tokens"


def _glimpse(value: Json) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else compact_json(value)
    return one_line(text, _PREVIEW_CHARS)
