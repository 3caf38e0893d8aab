"""Events about model calls: retries, switches, rungs, circuits, prices, limits and the queue."""

from dataclasses import dataclass
from typing import ClassVar


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
class Pause:
    """A provider asked us to wait: calls with this credential start again at `resume_at`."""

    credential: str
    provider: str
    resume_at: int
    attempt: int
    reason: str


@dataclass(frozen=True, slots=True)
class LimitPaused(Pause):
    """A pause has begun; told again only if it gets longer. `is_long` is over five minutes."""

    type: ClassVar[str] = "limit.paused"
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
