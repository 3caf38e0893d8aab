"""Conflicts as they are kept: what was known, what was claimed, and how the writer decided."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from callboard.core.canonical import Json, digest
from callboard.core.errors import NotFound
from callboard.library.story.contradiction import AnyClaim, ClashKind, GraphClash, claim_from_json
from callboard.packs.writers_factory.memory.mapping import Origin
from callboard.store.connection import Connection
from callboard.store.records import Records

KIND: Final = "conflict"


class Resolution(StrEnum):
    """What a writer can decide about a conflict; the last two happen without a decision."""

    KEEP_EXISTING = "keep_existing"
    ACCEPT_NEW = "accept_new"
    BOTH_WITH_SCOPE = "both_with_scope"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True)
class ConflictRecord:
    """A contradiction, open until the writer resolves it."""

    id: str
    kind: ClashKind
    node_id: str
    attribute: str
    existing: Mapping[str, Json]
    claim: AnyClaim
    origin: Origin
    told: str
    raised_at: int
    resolution: Resolution | None = None
    resolved_at: int | None = None
    scope: Mapping[str, Json] | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody has decided yet."""
        return self.resolution is None

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape, which is also what the doors show."""
        return {
            "id": self.id,
            "kind": self.kind.value,
            "node_id": self.node_id,
            "attribute": self.attribute,
            "existing": dict(self.existing),
            "proposed": self.claim.to_json(),
            "origin": str(self.origin),
            "told": self.told,
            "state": "open" if self.is_open else "resolved",
            "raised_at": self.raised_at,
            "resolution": None if self.resolution is None else self.resolution.value,
            "resolved_at": self.resolved_at,
            "scope": None if self.scope is None else dict(self.scope),
        }


def make_conflict(
    clash: GraphClash, claim: AnyClaim, origin: Origin, now_ms: int
) -> ConflictRecord:
    """Return the record of a clash; the same clash of the same origin is the same record."""
    known_by = {
        "kind": clash.kind.value,
        "existing": clash.existing,
        "claim": claim.to_json(),
        "origin": str(origin),
    }
    return ConflictRecord(
        id=f"conflict-{digest(known_by)[:12]}",
        kind=clash.kind,
        node_id=clash.node_id,
        attribute=clash.attribute,
        existing=clash.existing,
        claim=claim,
        origin=origin,
        told=clash.told,
        raised_at=now_ms,
    )


class ConflictLedger:
    """All conflicts of a project."""

    def __init__(self, records: Records) -> None:
        """Take where they are kept."""
        self._records = records

    def all(self, *, only_open: bool = False) -> tuple[ConflictRecord, ...]:
        """Return the conflicts, oldest first."""
        found = (_from_json(body) for body in self._records.all(KIND).values())
        return tuple(each for each in found if each.is_open or not only_open)

    def get(self, conflict_id: str) -> ConflictRecord:
        """Return one conflict."""
        found = self.find(conflict_id)
        if found is None:
            known = ", ".join(each.id for each in self.all(only_open=True)) or "none"
            raise NotFound(
                f"There is no conflict {conflict_id!r}",
                fix=f"Open conflicts: {known}.",
                conflict_id=conflict_id,
            )
        return found

    def find(self, conflict_id: str) -> ConflictRecord | None:
        """Return one conflict, or None."""
        body = self._records.get(KIND, conflict_id)
        return None if body is None else _from_json(body)

    def load_in(self, connection: Connection, conflict_id: str) -> ConflictRecord | None:
        """Return one conflict within a unit of work, or None."""
        body = self._records.load(connection, KIND, conflict_id)
        return None if body is None else _from_json(body)

    def open_in(self, connection: Connection) -> tuple[ConflictRecord, ...]:
        """Return the open conflicts within a unit of work."""
        found = self._records.load_all(connection, KIND).values()
        return tuple(each for each in map(_from_json, found) if each.is_open)

    def store_in(self, connection: Connection, conflicts: Iterable[ConflictRecord]) -> None:
        """Keep conflicts within a unit of work."""
        for conflict in conflicts:
            self._records.store(connection, KIND, conflict.id, conflict.to_json())

    def raise_in(self, connection: Connection, conflict: ConflictRecord) -> bool:
        """Keep a new conflict; one that was raised before stays as it was decided."""
        if self._records.load(connection, KIND, conflict.id) is not None:
            return False
        self.store_in(connection, (conflict,))
        return True


def _from_json(body: Mapping[str, Any]) -> ConflictRecord:
    resolution = body["resolution"]
    return ConflictRecord(
        id=body["id"],
        kind=ClashKind(body["kind"]),
        node_id=body["node_id"],
        attribute=body["attribute"],
        existing=body["existing"],
        claim=claim_from_json(body["proposed"]),
        origin=Origin.parse(body["origin"]),
        told=body["told"],
        raised_at=body["raised_at"],
        resolution=None if resolution is None else Resolution(resolution),
        resolved_at=body["resolved_at"],
        scope=body["scope"],
    )
