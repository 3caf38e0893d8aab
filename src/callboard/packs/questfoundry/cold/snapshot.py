"""A snapshot: what Cold held at a moment, and how its canon came to be what it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from callboard.core.canonical import Json
from callboard.core.codec import Coded
from callboard.packs.questfoundry.canon.graph import (
    CanonGraph,
    ColdStep,
    TracedStatement,
    traced,
)
from callboard.packs.questfoundry.canon.statements import CANON_KINDS
from callboard.packs.questfoundry.shelf.shelf import Shelf
from callboard.packs.questfoundry.units.ledger import UnitLedger
from callboard.store.connection import Connection


@dataclass(frozen=True)
class Snapshot(Coded):
    """What Cold held at a moment, by path: hash, size, and whether readers may know it."""

    id: str
    parent: str | None
    created_at: int
    files: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    tus: tuple[str, ...] = ()

    def body(self) -> dict[str, Json]:
        """Return it as an artifact of the kind `cold_snapshot`."""
        return {
            "snapshot_id": self.id,
            "parent": self.parent,
            "files": [
                {
                    "path": path,
                    "sha256": each["sha256"],
                    "size": each["size"],
                    "player_safe": each["player_safe"],
                }
                for path, each in sorted(self.files.items())
            ],
            "tus": list(self.tus),
        }


@dataclass(frozen=True, slots=True)
class ColdCanon:
    """The way from snapshots to canon: every statement, from the snapshot that brought it."""

    graph: CanonGraph
    units: UnitLedger
    shelf: Shelf
    find: Callable[[Connection, str], Snapshot]

    def project(self, connection: Connection, snapshot: Snapshot) -> None:
        """Let the knowledge graph hold the canon of a snapshot, in the unit of work at hand."""
        marked, known = self.graph.load(connection)
        if marked == snapshot.id or (marked is None and not _has_canon(snapshot)):
            return
        wanted = self._followed(connection, snapshot, marked, known)
        self.graph.write(connection, snapshot.id, wanted)

    def rebuild(self, connection: Connection, snapshot: Snapshot) -> int:
        """Project a snapshot without a look at what the graph holds; return how many statements."""
        wanted = self._followed(connection, snapshot, None, {})
        self.graph.write(connection, snapshot.id, wanted)
        return len(wanted)

    def load(self, connection: Connection, snapshot: Snapshot) -> dict[str, TracedStatement]:
        """Return the canon of a snapshot by id: as the graph holds it, else as Cold tells it."""
        marked, known = self.graph.load(connection)
        found = self._followed(connection, snapshot, marked, known)
        return {name: found[name] for name in sorted(found)}

    def _followed(
        self,
        connection: Connection,
        snapshot: Snapshot,
        marked: str | None,
        known: Mapping[str, TracedStatement],
    ) -> dict[str, TracedStatement]:
        """Go from what the graph is of, if it lies on the way, or from the very first snapshot."""
        way: list[Snapshot] = []
        at: Snapshot | None = snapshot
        while at is not None and at.id != marked:
            way.append(at)
            at = None if at.parent is None else self.find(connection, at.parent)
        found = {} if at is None else dict(known)
        for each in reversed(way):
            found = traced(found, self._step(connection, each))
        return found

    def _step(self, connection: Connection, snapshot: Snapshot) -> ColdStep:
        held = {
            kind: self.shelf.load_body(connection, str(snapshot.files[kind]["sha256"]))
            for kind in CANON_KINDS
            if kind in snapshot.files
        }
        made: list[tuple[str, int, str, Mapping[str, Mapping[str, Any]]]] = []
        for unit_id in snapshot.tus if held else ():
            unit = self.units.load(connection, unit_id)
            for kind in CANON_KINDS:
                if kind in unit.made:
                    entry = self.shelf.load(connection, str(unit.made[kind]["ref"]))
                    body = self.shelf.load_body(connection, entry.sha256)
                    made.append((entry.artifact_id, entry.version, unit.id, {kind: body}))
        return ColdStep(snapshot.id, held, made)


def _has_canon(snapshot: Snapshot) -> bool:
    return any(kind in snapshot.files for kind in CANON_KINDS)
