"""What a status shows of the queue: counts, no calls."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from callboard.core.canonical import Json
from callboard.models.traffic.limits.state import LimitView
from callboard.models.traffic.waiting.call import Call
from callboard.models.traffic.waiting.slots import QueueLimits


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
    limits: QueueLimits
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
            "limits": asdict(self.limits),
            "paused": [view.to_json() for view in self.paused],
        }


def grouped(calls: Iterable[Call]) -> tuple[CallGroup, ...]:
    """Count calls of the same kind, highest priority first."""
    counts = Counter((call.credential.provider, call.priority, call.session) for call in calls)
    groups = [CallGroup(*kind, count) for kind, count in counts.items()]
    return tuple(
        sorted(groups, key=lambda each: (-each.priority, each.provider, each.session_id or ""))
    )
