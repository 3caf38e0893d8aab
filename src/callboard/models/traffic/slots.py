"""Slots: how many calls may be under way, in all, per provider and per session; and who has one."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TypeVar

from callboard.core.canonical import Json
from callboard.core.settings.sections import QueueSettings
from callboard.models.traffic.limit_state import LimitView
from callboard.models.traffic.line import QueuedCall

K = TypeVar("K")


class Slots:
    """The calls under way."""

    def __init__(self, limits: QueueSettings) -> None:
        """Start empty."""
        self.limits = limits
        self._calls: dict[int, QueuedCall] = {}
        self._by_provider: Counter[str] = Counter()
        self._by_session: Counter[str | None] = Counter()

    def __len__(self) -> int:
        """Return how many slots are taken."""
        return len(self._calls)

    @property
    def calls(self) -> Iterable[QueuedCall]:
        """The calls that hold a slot."""
        return self._calls.values()

    @property
    def is_full(self) -> bool:
        """Whether all slots are taken."""
        return len(self._calls) >= self.limits.global_limit

    def room_at(self, provider: str) -> int:
        """Return how many more calls a provider may have under way."""
        return max(0, self.limits.of_provider(provider) - self._by_provider[provider])

    def has_room_for(self, call: QueuedCall) -> bool:
        """Say whether its session may have one more call under way."""
        if call.is_interactive or call.session is None:
            return True
        return self._by_session[call.session] < self.limits.session_limit

    def take(self, call: QueuedCall) -> None:
        """Give a slot to a call."""
        self._calls[call.number] = call
        self._by_provider[call.credential.provider] += 1
        self._by_session[call.session] += 1

    def free(self, call: QueuedCall) -> None:
        """Take the slot back."""
        del self._calls[call.number]
        _decrement(self._by_provider, call.credential.provider)
        _decrement(self._by_session, call.session)

    def leaving(self, provider: str | None = None) -> int:
        """Return how many calls, of one provider or of all, are about to free their slot."""
        return sum(
            call.is_ending and provider in (None, call.credential.provider) for call in self.calls
        )

    def victim(self, provider: str | None) -> QueuedCall | None:
        """Return the call that costs least to interrupt: lowest priority, least output, newest.

        A call whose reader is busy elsewhere would not hear of it at once, so others come first.
        """
        candidates = [
            call
            for call in self.calls
            if not call.is_interactive
            and not call.is_ending
            and call.preemptions < self.limits.max_preemptions
            and provider in (None, call.credential.provider)
        ]
        return min(
            candidates,
            key=lambda call: (not call.is_read, call.priority, call.output_chars, -call.number),
            default=None,
        )


def _decrement(counts: "Counter[K]", key: K) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]


@dataclass(frozen=True, slots=True)
class CallGroup:
    """How many calls of one kind there are."""

    provider: str
    priority: int
    session_id: str | None
    count: int


@dataclass(frozen=True, slots=True)
class QueueSnapshot:
    """The queue at one moment, grouped by provider, priority and session."""

    waiting: tuple[CallGroup, ...]
    in_flight: tuple[CallGroup, ...]
    limits: QueueSettings
    paused: tuple[LimitView, ...] = ()

    @property
    def waiting_count(self) -> int:
        """How many calls wait."""
        return sum(group.count for group in self.waiting)

    @property
    def in_flight_count(self) -> int:
        """How many calls are under way."""
        return sum(group.count for group in self.in_flight)

    def to_json(self) -> dict[str, Json]:
        """Return the shape the doors show."""
        return {
            "waiting": [asdict(group) for group in self.waiting],
            "in_flight": [asdict(group) for group in self.in_flight],
            "limits": self.limits.model_dump(),
            "paused": [view.to_json() for view in self.paused],
        }


def grouped(calls: Iterable[QueuedCall]) -> tuple[CallGroup, ...]:
    """Count calls of the same kind, highest priority first."""
    counts = Counter((call.credential.provider, call.priority, call.session) for call in calls)
    groups = [CallGroup(*kind, count) for kind, count in counts.items()]
    return tuple(
        sorted(groups, key=lambda each: (-each.priority, each.provider, each.session_id or ""))
    )
