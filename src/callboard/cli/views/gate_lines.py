"""What happens to model calls, in words: retries, switches of model, circuits, pauses."""

from typing import assert_never

from callboard.cli.output import moment, one_line, seconds
from callboard.core.events import (
    CallRetried,
    CircuitChanged,
    LimitPaused,
    LimitResumed,
    ModelSwitched,
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
