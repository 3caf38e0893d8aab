"""The state of one credential: open, paused until a moment, or tried out after a pause.

Plain data and the questions it answers; who changes it, when, and who is told is the limiter's.
"""

from dataclasses import dataclass

from callboard.core.canonical import Json
from callboard.models.traffic.limits.credential import Credential
from callboard.models.traffic.limits.timer import Cancel


@dataclass(frozen=True, slots=True)
class Ticket:
    """Proof of when a call started: `epoch` counts the pauses that had begun by then.

    The one call let through after a pause to see whether the provider answers is the trial.
    """

    credential: Credential
    epoch: int
    is_trial: bool = False


@dataclass(frozen=True, slots=True)
class LimitView:
    """What a status shows of a credential."""

    credential: str
    provider: str
    is_paused: bool
    attempt: int
    resume_at: int
    remaining_seconds: float
    reason: str

    def to_json(self) -> dict[str, Json]:
        """Return the shape the doors show."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class LimitState:
    """Everything the limiter knows of one credential.

    Times with `_at` are wall-clock milliseconds, as other processes see them; `until` is the same
    end on this process's monotonic clock. Whichever comes first ends the pause, so neither a
    clock set back nor a machine that slept can prolong it.
    """

    credential: Credential
    attempt: int = 0
    """Pauses since the last success; it grows the wait."""
    epoch: int = 0
    """Pauses ever begun, as seen from here."""
    is_paused: bool = False
    paused_at: int = 0
    resume_at: int = 0
    until: float = 0.0
    reason: str = ""
    over_at: int = -1
    """`paused_at` of the latest pause that ended here: a stored row no newer is history."""
    is_trial: bool = False
    """After a pause calls go one at a time until the provider does anything but refuse."""
    has_trial_call: bool = False
    stop_timer: Cancel | None = None

    def holds(self, now_ms: int, monotonic: float) -> bool:
        """Say whether the pause is still in force."""
        return self.is_paused and monotonic < self.until and now_ms < self.resume_at

    def lets_start(self, now_ms: int, monotonic: float) -> bool:
        """Say whether a call may start now."""
        if self.is_paused:
            return not self.holds(now_ms, monotonic)
        return not (self.is_trial and self.has_trial_call)

    def remaining_seconds(self, now_ms: int, monotonic: float) -> float:
        """Return how long the pause still lasts."""
        if not self.is_paused:
            return 0.0
        return max(0.0, min(self.until - monotonic, (self.resume_at - now_ms) / 1000))

    def begin(self, paused_at: int, resume_at: int, until: float, reason: str) -> None:
        """Enter a new pause."""
        self.is_paused, self.epoch = True, self.epoch + 1
        self.paused_at, self.resume_at, self.until = paused_at, resume_at, until
        self.reason = reason
        self.is_trial = self.has_trial_call = False

    def end(self) -> None:
        """Leave the pause; the next call is a trial."""
        self.is_paused, self.over_at = False, max(self.over_at, self.paused_at)
        self.is_trial, self.has_trial_call = True, False

    def is_trial_of(self, ticket: Ticket) -> bool:
        """Say whether this ticket belongs to the trial under way."""
        return ticket.is_trial and self.is_trial and ticket.epoch == self.epoch
