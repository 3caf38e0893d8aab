"""Snapshots: the gated book at a moment, with the hash of all it holds; made by merges only."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from callboard.core.canonical import canonical_json, digest_bytes
from callboard.core.clock import Clock
from callboard.core.errors import Conflict, NotFound
from callboard.packs.questfoundry.canon.graph import CanonGraph
from callboard.packs.questfoundry.cold.folding import ColdPart, fold
from callboard.packs.questfoundry.cold.snapshot import ColdCanon, Snapshot
from callboard.packs.questfoundry.shelf.entry import SECRET_KINDS
from callboard.packs.questfoundry.shelf.shelf import Shelf
from callboard.packs.questfoundry.story_hooks.ledger import HookLedger
from callboard.packs.questfoundry.story_hooks.story_hook import MERGE
from callboard.packs.questfoundry.units.ledger import UnitLedger, count_up, day_of
from callboard.packs.questfoundry.units.unit import UnitStatus, WorkUnit
from callboard.store.blobs import get_blob, put_blob
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.records import Records

_SNAPSHOT: Final = "snapshot"
_COLD: Final = "cold"
_MERGED: Final = "merged"
_TIP: Final = "head"


class BaseMoved(Conflict):
    """Cold is no longer what a gatecheck judged the work against."""

    code = "quest_base_moved"


@dataclass(frozen=True, slots=True)
class Merging:
    """What is merged: units, on which snapshot, and the name under which it is done once."""

    name: str
    base: str
    # The units and, for each, the hashes of its artifacts as they were judged, by kind.
    judged: Mapping[str, Mapping[str, str]]


class ColdStore:
    """The snapshots of one project."""

    def __init__(
        self,
        database: Database,
        records: Records,
        clock: Clock,
        units: UnitLedger,
        hooks: HookLedger,
        shelf: Shelf,
        canon: CanonGraph,
    ) -> None:
        """Take where they are kept, and what a merge changes besides."""
        self._database = database
        self._records = records
        self._clock = clock
        self._units = units
        self._hooks = hooks
        self._shelf = shelf
        self.canon = ColdCanon(canon, units, shelf, self.load)

    def tip(self) -> Snapshot | None:
        """Return the newest snapshot."""
        return self._database.read(self.load_tip)

    def load_tip(self, connection: Connection) -> Snapshot | None:
        """Return the newest snapshot within a unit of work of the database."""
        body = self._records.load(connection, _COLD, _TIP)
        return None if body is None else self.load(connection, str(body["snapshot"]))

    def find(self, snapshot_id: str) -> Snapshot:
        """Return a snapshot; one that does not exist is told."""
        return self._database.read(lambda connection: self.load(connection, snapshot_id))

    def load(self, connection: Connection, snapshot_id: str) -> Snapshot:
        """Return a snapshot within a unit of work of the database."""
        body = self._records.load(connection, _SNAPSHOT, snapshot_id)
        if body is None:
            raise NotFound(
                f"There is no snapshot {snapshot_id!r}",
                fix="`callboard quest snapshots` shows them.",
            )
        return Snapshot.from_json(body)

    def all(self) -> list[Snapshot]:
        """Return every snapshot, oldest first."""
        return [Snapshot.from_json(each) for each in self._records.all(_SNAPSHOT).values()]

    def contents(self, snapshot: Snapshot) -> dict[str, dict[str, Any]]:
        """Return everything a snapshot holds, by path."""
        return self._database.read(lambda connection: self.load_contents(connection, snapshot))

    def load_contents(
        self, connection: Connection, snapshot: Snapshot
    ) -> dict[str, dict[str, Any]]:
        """Return everything a snapshot holds within a unit of work of the database."""
        return {
            path: self._shelf.load_body(connection, str(each["sha256"]))
            for path, each in snapshot.files.items()
        }

    def verify(self, snapshot: Snapshot) -> list[str]:
        """Say what of a snapshot is not what its manifest says."""

        def act(connection: Connection) -> list[str]:
            wrong: list[str] = []
            for path, each in snapshot.files.items():
                data = get_blob(connection, str(each["sha256"]))
                if digest_bytes(data) != each["sha256"] or len(data) != each["size"]:
                    wrong.append(path)
            return wrong

        return self._database.read(act)

    async def select(self, snapshot_id: str) -> Snapshot:
        """Go on from an earlier snapshot; nothing is edited and nothing is lost."""

        def act(connection: Connection) -> Snapshot:
            chosen = self.load(connection, snapshot_id)
            self._records.store(connection, _COLD, _TIP, {"snapshot": chosen.id})
            self.canon.project(connection, chosen)
            return chosen

        return await self._database.write(act)

    def found(self, connection: Connection, parts: Sequence[ColdPart]) -> Snapshot:
        """Make the first snapshot of a project."""
        day = f"{day_of(self._clock):%Y%m%d}"
        number = count_up(self._records, connection, f"cold-{day}", start=0)
        held = fold({}, parts)
        return self._keep(connection, f"cold-{day}-{number:02d}", None, held, ())

    async def merge(self, wanted: Merging, also: Callable[[Connection], None]) -> Snapshot:
        """Merge units into a new snapshot, all or nothing; asked again, return what was made.

        `also` is done in the same transaction.
        """

        def act(connection: Connection) -> Snapshot:
            known = self._records.load(connection, _MERGED, wanted.name)
            if known is not None:
                return self.load(connection, str(known["snapshot"]))
            made = self._merge(connection, wanted)
            self._records.store(connection, _MERGED, wanted.name, {"snapshot": made.id})
            also(connection)
            return made

        return await self._database.write(act)

    def _merge(self, connection: Connection, wanted: Merging) -> Snapshot:
        tip = self.load_tip(connection)
        if tip is None or tip.id != wanted.base:
            raise BaseMoved(
                f"Cold is at {tip.id if tip else 'nothing'}, and the work was judged on "
                f"{wanted.base}",
                fix="Run the gatecheck again: it judges the work on what Cold is now.",
            )
        held = self.load_contents(connection, tip)
        for unit_id, hashes in wanted.judged.items():
            unit = self._units.load(connection, unit_id)
            self._refuse_changed(unit, hashes)
            held = fold(held, self.parts_of(connection, unit))
        day = f"{day_of(self._clock):%Y%m%d}"
        number = count_up(self._records, connection, f"cold-{day}")
        made = self._keep(
            connection, f"cold-{day}-{number:02d}", tip.id, held, tuple(wanted.judged)
        )
        for unit_id in wanted.judged:
            self._settle(connection, self._units.load(connection, unit_id), made)
        self.canon.project(connection, made)
        return made

    def parts_of(self, connection: Connection, unit: WorkUnit) -> list[ColdPart]:
        """Return what a unit made, in the order it was made."""
        rows = sorted(unit.made.items(), key=lambda each: int(each[1].get("order", 0)))
        return [
            ColdPart(kind, self._shelf.load_body(connection, str(row["sha256"])))
            for kind, row in rows
        ]

    @staticmethod
    def _refuse_changed(unit: WorkUnit, hashes: Mapping[str, str]) -> None:
        now = {kind: str(row["sha256"]) for kind, row in unit.made.items()}
        changed = sorted(kind for kind, sha in hashes.items() if now.get(kind) != sha)
        if changed:
            raise BaseMoved(
                f"{unit.id} changed while it was judged: {', '.join(changed)}",
                fix="Run the gatecheck again.",
            )

    def _settle(self, connection: Connection, unit: WorkUnit, made: Snapshot) -> None:
        if unit.status is UnitStatus.DEFERRED:
            # Somebody named it: that takes it up again.
            unit = unit.moved(UnitStatus.STABILIZING)
        if unit.status is UnitStatus.STABILIZING:
            unit = unit.moved(UnitStatus.GATECHECK)
        merged = replace(unit.moved(UnitStatus.COLD_MERGED), snapshot=made.id)
        self._units.save(connection, merged)
        for kind in ("canon_pack", "triaged_hooks"):
            row = unit.made.get(kind)
            if row is None:
                continue
            body = self._shelf.load_body(connection, str(row["sha256"]))
            for hook_id in _hooks_in(body):
                if self._hooks.load(connection, hook_id).status == "resolved":
                    self._hooks.move(connection, hook_id, "canonized", by=MERGE, cold_link=made.id)

    def _keep(
        self,
        connection: Connection,
        snapshot_id: str,
        parent: str | None,
        held: Mapping[str, Mapping[str, Any]],
        tus: tuple[str, ...],
    ) -> Snapshot:
        files: dict[str, dict[str, Any]] = {}
        for path, body in held.items():
            data = canonical_json(body).encode()
            kind = path.partition("/")[0]
            files[path] = {
                "sha256": put_blob(connection, data),
                "size": len(data),
                "player_safe": kind not in SECRET_KINDS,
            }
        made = Snapshot(snapshot_id, parent, self._clock.now_ms(), files, tus)
        self._records.store(connection, _SNAPSHOT, made.id, made.to_json())
        self._records.store(connection, _COLD, _TIP, {"snapshot": made.id})
        return made


def _hooks_in(body: Mapping[str, Any]) -> list[str]:
    named = [hook for answer in body.get("answers", ()) for hook in answer.get("hook_ids", ())]
    return list(dict.fromkeys((*named, *body.get("hook_ids", ()))))
