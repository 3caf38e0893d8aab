"""What a report on the whole manuscript holds: items with a quote, a scene and a proposed fix."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from callboard.core.canonical import Json
from callboard.packs.writers_factory.model import Severity


class AuditKind(StrEnum):
    """What kind of continuity an item is about."""

    TIMELINE = "timeline"
    UNPAID = "unpaid_callback"
    UNPLANTED = "unplanted_payoff"
    CORRECTION = "correction"
    WORLD_RULE = "world_rule"
    CONFLICT = "graph_conflict"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True, slots=True)
class AuditItem:
    """One thing that does not hold together; chapter 0 means the book as a whole."""

    kind: AuditKind
    severity: Severity
    chapter: int
    scene_id: str
    problem: str
    fix: str
    quotes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {**asdict(self), "quotes": list(self.quotes)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "AuditItem":
        """Read the stored shape."""
        return cls(
            AuditKind(data["kind"]),
            Severity(data["severity"]),
            int(data["chapter"]),
            str(data["scene_id"]),
            str(data["problem"]),
            str(data["fix"]),
            tuple(data["quotes"]),
        )
