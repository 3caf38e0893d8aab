"""The five error tiers, and for each what is retried and what the user sees."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from threading import Lock
from typing import Final


class ErrorTier(IntEnum):
    """Who must act on an error: nobody, the developer, the user, or time."""

    TRANSIENT = 0
    PERMANENT = 1
    USER_FIXABLE = 2
    EXTERNAL_RATE_LIMIT = 3
    EXTERNAL_DEGRADING = 4


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long to wait; `max_attempts` counts the first call."""

    max_attempts: int
    initial_delay_seconds: float
    max_delay_seconds: float
    multiplier: float = 2.0
    use_retry_after: bool = False

    def delay_seconds(self, attempt: int, retry_after_seconds: float | None = None) -> float:
        """Return the wait after failed attempt `attempt` (1-based), before jitter."""
        if self.use_retry_after and retry_after_seconds is not None:
            return max(0.0, retry_after_seconds)
        exponent = min(attempt - 1, 64)
        return min(self.max_delay_seconds, self.initial_delay_seconds * self.multiplier**exponent)


NO_RETRY: Final = RetryPolicy(max_attempts=1, initial_delay_seconds=0.0, max_delay_seconds=0.0)

retry_policies: Final[Mapping[ErrorTier, RetryPolicy]] = {
    ErrorTier.TRANSIENT: RetryPolicy(5, 0.1, 5.0),
    ErrorTier.PERMANENT: NO_RETRY,
    ErrorTier.USER_FIXABLE: NO_RETRY,
    ErrorTier.EXTERNAL_RATE_LIMIT: RetryPolicy(10, 1.0, 60.0, use_retry_after=True),
    ErrorTier.EXTERNAL_DEGRADING: RetryPolicy(3, 5.0, 30.0),
}


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
