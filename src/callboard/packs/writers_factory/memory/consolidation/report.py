"""The report of a consolidation: what was seen, what changed, what was left."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from callboard.core.canonical import Json


@dataclass(frozen=True, slots=True)
class Report:
    """Counts of one run; `unread` are turns nobody could make sense of, left for the next run."""

    events_seen: int = 0
    entries_seen: int = 0
    nodes_added: int = 0
    nodes_updated: int = 0
    edges_added: int = 0
    conflicts: int = 0
    skipped: int = 0
    unread: int = 0
    duration_ms: int = 0
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {**asdict(self), "warnings": list(self.warnings)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Report":
        """Read the stored shape."""
        known = {each.name for each in fields(cls)}
        told: dict[str, Any] = {name: value for name, value in data.items() if name in known}
        told["warnings"] = tuple(told.get("warnings", ()))
        return cls(**told)
