"""The state of one credential: open, paused until a moment, or tried out after a pause.

Holds a credential's fingerprint, never a key; what a provider's headers ask for is read here.

Plain data and the questions it answers; who changes it, when, and who is told is the limiter's.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Container, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from hashlib import sha256
from typing import Final

from callboard.core.call_events import Pause
from callboard.core.canonical import Json
from callboard.models.catalog import provider_of, sent_model
from callboard.models.credentials import Secret, account_of
from callboard.models.types import ModelRequest

Cancel = Callable[[], None]
Timer = Callable[[float, Callable[[], None]], Cancel]
"""Runs an action once after so many seconds, unless the returned function is called first."""


def loop_timer(seconds: float, action: Callable[[], None]) -> Cancel:
    """Wait on the running event loop."""
    return asyncio.get_running_loop().call_later(seconds, action).cancel


@dataclass(frozen=True, slots=True)
class Credential:
    """A provider and the fingerprint of the key it is asked with; empty without a key."""

    provider: str
    fingerprint: str = ""

    @classmethod
    def from_key(cls, key: str) -> "Credential":
        """Read the stored name back."""
        provider, _, mark = key.rpartition("#")
        return cls(provider, mark)

    @property
    def key(self) -> str:
        """The name under which the state of this credential is stored."""
        return f"{self.provider}#{self.fingerprint}"

    @property
    def label(self) -> str:
        """The name people see."""
        if not self.fingerprint:
            return self.provider
        return f"{self.provider} (key {self.fingerprint})"


CredentialOf = Callable[[ModelRequest], Awaitable[Credential]]
"""Tells which credential a request will be sent with; the first look for a key may take a while."""


def fingerprint(secret: str) -> str:
    """Return a short name for a key from which the key cannot be found again."""
    return sha256(b"callboard:" + secret.encode()).hexdigest()[:8] if secret else ""


def credentials_of(
    key_of: Callable[[str], Awaitable[Secret | None]], without_key: Container[str]
) -> CredentialOf:
    """Return the credentials of requests whose keys are found by `key_of`.

    Providers in `without_key` answer on this machine. Names of one provider that share a key are
    one credential.
    """

    async def credential_of(request: ModelRequest) -> Credential:
        model = sent_model(request.model)
        provider = model.partition(":")[0]
        if provider in without_key:
            return Credential(provider)
        secret = await key_of(model)
        mark = "" if secret is None else fingerprint(secret.reveal())
        return Credential(account_of(provider), mark)

    return credential_of


async def keyless(request: ModelRequest) -> Credential:
    """Take every provider to be asked with one key only."""
    return Credential(provider_of(request.model))


@dataclass(frozen=True, slots=True)
class Ticket:
    """Proof of when a call started: `epoch` counts the pauses that had begun by then.

    The one call let through after a pause to see whether the provider answers is the trial.
    """

    credential: Credential
    epoch: int
    is_trial: bool = False


@dataclass(frozen=True, slots=True)
class LimitView(Pause):
    """What a status shows of a credential."""

    is_paused: bool
    remaining_seconds: float

    def to_json(self) -> dict[str, Json]:
        """Return the shape the doors show."""
        return asdict(self)


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

    def disarm(self) -> None:
        """Stop the timer that would end the pause."""
        if self.stop_timer is not None:
            self.stop_timer()
            self.stop_timer = None

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


LONGEST_PAUSE_SECONDS: Final = 31 * 86_400.0
"""No allowance is refilled more rarely than once a month; a larger number is a mistake."""

_NUMBER: Final = re.compile(r"\d{1,15}(\.\d{1,9})?")


def retry_after_seconds(headers: Mapping[str, str], now_ms: int) -> float | None:
    """Return the wait the headers name; zero, the past and nonsense count as nothing said."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    text = headers.get("retry-after", "").strip()
    seconds = milliseconds / 1000 if milliseconds else _number(text)
    if seconds is None and text:
        seconds = _until_date(text, now_ms)
    if not seconds or seconds <= 0:
        return None
    return min(seconds, LONGEST_PAUSE_SECONDS)


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text.strip()) else None


def _until_date(text: str, now_ms: int) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp() - now_ms / 1000
    except (ValueError, OverflowError):
        return None
