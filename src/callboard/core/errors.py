"""The error root: every failure has a code, a tier, a message and a way out.

The five tiers say who must act, what is retried and what the user sees.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from threading import Lock
from typing import Any, ClassVar, Final

from callboard.core.canonical import Json, plain


class ErrorTier(IntEnum):
    """Who must act on an error: nobody, the developer, the user, or time."""

    TRANSIENT = 0
    PERMANENT = 1
    USER_FIXABLE = 2
    EXTERNAL_RATE_LIMIT = 3
    EXTERNAL_DEGRADING = 4


class Fault(StrEnum):
    """What is wrong with a request itself; every door has one answer to each."""

    MISSING = "missing"
    """It names something that does not exist."""
    UNUSABLE = "unusable"
    """It holds a value that cannot be used."""
    STATE = "state"
    """The thing it names is not in a state that allows it."""


@dataclass(frozen=True, slots=True)
class TierView:
    """How a tier is presented: how loud, in which words, with what way out."""

    level: str
    headline: str
    way_out: str
    silent_until_frequent: bool = False
    countdown: bool = False


tier_views: Final[Mapping[ErrorTier, TierView]] = {
    ErrorTier.TRANSIENT: TierView(
        "info", "A passing fault", "It is tried again by itself.", silent_until_frequent=True
    ),
    ErrorTier.PERMANENT: TierView(
        "error", "This cannot work as it is", "Change what the message names, then retry the run."
    ),
    ErrorTier.USER_FIXABLE: TierView(
        "action", "Callboard needs you", "Do what the message says, then retry the run."
    ),
    ErrorTier.EXTERNAL_RATE_LIMIT: TierView(
        "info", "The provider asks us to wait", "Work goes on by itself.", countdown=True
    ),
    ErrorTier.EXTERNAL_DEGRADING: TierView(
        "alert", "The provider is in trouble", "Wait, switch the model, or retry the run later."
    ),
}


class TransientTracker:
    """Stays quiet on single blips and speaks up on a burst, once per cooldown and resource."""

    def __init__(
        self,
        frequency_count: int = 3,
        frequency_window_seconds: float = 10.0,
        notification_cooldown_seconds: float = 60.0,
    ) -> None:
        """Take the thresholds; the defaults are the documented ones."""
        self._count = frequency_count
        self._window = frequency_window_seconds
        self._cooldown = notification_cooldown_seconds
        self._seen: dict[str, deque[float]] = {}
        self._notified: dict[str, float] = {}
        self._lock = Lock()

    def record(self, resource: str, now: float) -> bool:
        """Note one transient error at monotonic time `now`; say whether to tell the user."""
        with self._lock:
            seen = self._seen.setdefault(resource, deque())
            seen.append(now)
            while seen and seen[0] <= now - self._window:
                seen.popleft()
            if len(seen) < self._count:
                return False
            last = self._notified.get(resource)
            if last is not None and now - last < self._cooldown:
                return False
            self._notified[resource] = now
            return True


_RETRYABLE = frozenset(
    {ErrorTier.TRANSIENT, ErrorTier.EXTERNAL_RATE_LIMIT, ErrorTier.EXTERNAL_DEGRADING}
)


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """An error as it is journaled, streamed and shown."""

    code: str
    message: str
    tier: ErrorTier = ErrorTier.PERMANENT
    fix: str | None = None
    context: dict[str, Json] = field(default_factory=dict[str, Json])

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later without anybody changing anything."""
        return self.tier in _RETRYABLE

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "code": self.code,
            "message": self.message,
            "tier": self.tier.name.lower(),
            "retryable": self.retryable,
            "fix": self.fix,
            "context": self.context,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "ErrorRecord":
        """Read the stored shape."""
        return cls(
            code=data["code"],
            message=data["message"],
            tier=_tier_named(data.get("tier")),
            fix=data.get("fix"),
            context=data.get("context") or {},
        )


def _tier_named(name: str | None) -> ErrorTier:
    # A tier of a newer Callboard is unknown here, and what is unknown is permanent.
    return ErrorTier.__members__.get((name or "").upper(), ErrorTier.PERMANENT)


class CallboardError(Exception):
    """Root of every error Callboard raises on purpose.

    A class that sets `tier` declares it, and nobody looks further. A class that does not is
    classified by what it wraps and says. `fault` is set where the request itself is wrong.
    """

    code: ClassVar[str] = "internal"
    tier: ErrorTier = ErrorTier.PERMANENT
    fault: Fault | None = None
    # Whether it says by its kind that nothing was done. What any other error leaves of an outside
    # effect is not known until somebody has looked.
    is_refusal: ClassVar[bool] = False

    def __init__(self, message: str, *, fix: str | None = None, **context: Json) -> None:
        """Take a message that names the value, the way out, and JSON context."""
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.context = context

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later by itself."""
        return self.tier in _RETRYABLE

    def record(self) -> ErrorRecord:
        """Return the error as it is journaled."""
        return ErrorRecord(self.code, self.message, self.tier, self.fix, plain(self.context))


class NotFound(CallboardError):
    """Something was named that does not exist."""

    code = "not_found"
    tier = ErrorTier.PERMANENT
    fault = Fault.MISSING
    is_refusal = True


class InvalidInput(CallboardError):
    """A value the caller gave cannot be used."""

    code = "invalid_input"
    tier = ErrorTier.PERMANENT
    fault = Fault.UNUSABLE
    is_refusal = True


class Conflict(CallboardError):
    """The request is fine but the thing is not in a state that allows it."""

    code = "conflict"
    tier = ErrorTier.PERMANENT
    fault = Fault.STATE
    is_refusal = True


class ProviderError(CallboardError):
    """A model provider answered with an error, or not at all."""

    code = "provider_error"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        headers: dict[str, str] | None = None,
        tier: ErrorTier | None = None,
        partial: str | None = None,
        fix: str | None = None,
        **context: Json,
    ) -> None:
        """Keep the HTTP status, the headers and whatever text had already arrived."""
        if status is not None:
            context["status"] = status
        if partial is not None:
            context["partial"] = partial
        super().__init__(message, fix=fix, **context)
        self.status = status
        self.headers = headers or {}
        self.partial = partial
        if tier is not None:
            self.tier = tier
