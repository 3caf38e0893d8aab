"""Signal: pause, resume and cancel, with the acknowledgement that says when they took effect."""

from dataclasses import dataclass
from enum import StrEnum

from callboard.core.vocabulary.run import RunState


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
