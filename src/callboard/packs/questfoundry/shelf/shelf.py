"""The shelf: artifacts by kind and version, bodies under their hashes, the newest at hand.

Stores only what fits its schema, and gives to a role only what it may read.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from callboard.core.canonical import canonical_json, digest
from callboard.core.clock import Clock, iso
from callboard.core.errors import NotFound
from callboard.packs.questfoundry.artifacts import catalog
from callboard.packs.questfoundry.shelf.entry import SECRET_KINDS, ShelfEntry, Temperature
from callboard.store.blobs import get_blob, put_blob
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.records import Records

_HEAD: Final = "artifact_head"
_LAST: Final = "artifact_last"
_VERSIONED: Final = re.compile(r"(?P<artifact>.+)\.v(?P<version>\d+)")
VALIDATOR: Final = "pydantic"


@dataclass(frozen=True, slots=True)
class Shelving:
    """An artifact about to be stored, and where it comes from."""

    kind: str
    content: Any
    tu_id: str
    loop: str
    step: str
    produced_by: str
    sot: Temperature = "hot"
    upstream: Mapping[str, str] = field(default_factory=dict[str, str])
    artifact_id: str = ""

    @property
    def name(self) -> str:
        """The name all its versions share."""
        return self.artifact_id or (f"{self.kind}.{self.tu_id}" if self.tu_id else self.kind)


class Shelf:
    """The artifacts of one project."""

    def __init__(self, database: Database, records: Records, clock: Clock) -> None:
        """Take where they are kept."""
        self._database = database
        self._records = records
        self._clock = clock

    def foresee(self, wanted: Shelving) -> ShelfEntry:
        """Return the entry an artifact would get now, without storing anything."""
        return self._database.read(lambda connection: self._entry(connection, wanted))

    def put(self, connection: Connection, wanted: Shelving) -> ShelfEntry:
        """Store an artifact as a new version, with the report of its check."""
        entry = self._entry(connection, wanted)
        self.keep(connection, entry, wanted.content)
        return entry

    def keep(self, connection: Connection, entry: ShelfEntry, content: Any) -> None:
        """Store an entry that was foreseen; the same one twice is one."""
        body = catalog.normal_form(entry.kind, content)
        put_blob(connection, canonical_json(body).encode())
        self._records.store(connection, _kind(entry.kind), entry.ref, entry.to_json())
        self._records.store(connection, _LAST, entry.artifact_id, {"version": entry.version})
        self._records.store(connection, _HEAD, entry.kind, {"ref": entry.ref})

    def _entry(self, connection: Connection, wanted: Shelving) -> ShelfEntry:
        body = catalog.normal_form(wanted.kind, wanted.content)
        last = self._records.load(connection, _LAST, wanted.name)
        head = self._records.load(connection, _HEAD, wanted.kind)
        now = self._clock.now_ms()
        return ShelfEntry(
            artifact_id=wanted.name,
            kind=wanted.kind,
            version=1 if last is None else int(last["version"]) + 1,
            sha256=digest(body),
            tu_id=wanted.tu_id,
            loop=wanted.loop,
            step=wanted.step,
            produced_by=wanted.produced_by,
            created_at=now,
            sot=wanted.sot,
            player_safe=wanted.sot == "cold" and wanted.kind not in SECRET_KINDS,
            schema_id=str(catalog.schema_of(wanted.kind)["$id"]),
            schema_sha256=catalog.schema_sha256(wanted.kind),
            upstream=dict(wanted.upstream),
            note=note_on(body),
            validation={
                "valid": True,
                "errors": [],
                "validator": VALIDATOR,
                "timestamp": iso(now),
            },
            previous=None if head is None else str(head["ref"]),
        )

    def find(self, ref: str) -> ShelfEntry:
        """Return an entry by its full name, or the newest version by the artifact's."""
        return self._database.read(lambda connection: self.load(connection, ref))

    def load(self, connection: Connection, ref: str) -> ShelfEntry:
        """Return an entry within a unit of work of the database."""
        full = ref
        if _VERSIONED.fullmatch(ref) is None:
            last = self._records.load(connection, _LAST, ref)
            full = ref if last is None else f"{ref}.v{last['version']}"
        body = self._records.load(connection, _kind(full.partition(".")[0]), full)
        if body is None:
            raise NotFound(
                f"There is no artifact {ref!r}", fix="`callboard quest artifacts` shows them."
            )
        return ShelfEntry.from_json(body)

    def newest(self, kind: str) -> ShelfEntry | None:
        """Return the newest artifact of a kind that counts."""

        def act(connection: Connection) -> ShelfEntry | None:
            head = self._records.load(connection, _HEAD, kind)
            return None if head is None else self.load(connection, str(head["ref"]))

        return self._database.read(act)

    def all(self, kind: str | None = None, tu_id: str | None = None) -> list[ShelfEntry]:
        """Return entries, those of one kind or of one unit if asked, oldest first."""
        kinds = [kind] if kind else list(catalog.shapes())
        found = [
            ShelfEntry.from_json(each)
            for name in kinds
            for each in self._records.all(_kind(name)).values()
        ]
        wanted = [each for each in found if tu_id is None or each.tu_id == tu_id]
        return sorted(wanted, key=lambda each: (each.created_at, each.ref))

    def body(self, sha256: str) -> dict[str, Any]:
        """Return what lies under a hash."""
        return self._database.read(lambda connection: self.load_body(connection, sha256))

    def load_body(self, connection: Connection, sha256: str) -> dict[str, Any]:
        """Return what lies under a hash within a unit of work of the database."""
        return json.loads(get_blob(connection, sha256))

    def read(self, ref: str, reader: str | None = None) -> dict[str, Any]:
        """Return what an artifact says; a role is refused what it may not read."""
        entry = self.find(ref)
        entry.refuse(reader)
        return self.body(entry.sha256)

    def withdraw(self, connection: Connection, ref: str, why: str) -> None:
        """Let an artifact count no more; it stays in the history."""
        entry = self.load(connection, ref)
        self._records.store(
            connection, _kind(entry.kind), entry.ref, replace(entry, withdrawn=why).to_json()
        )
        head = self._records.load(connection, _HEAD, entry.kind)
        if head is None or head["ref"] != entry.ref:
            return
        before = entry.previous
        while before is not None:
            earlier = self.load(connection, before)
            if earlier.withdrawn is None:
                self._records.store(connection, _HEAD, entry.kind, {"ref": earlier.ref})
                return
            before = earlier.previous
        self._records.remove(connection, _HEAD, entry.kind)


def note_on(body: Mapping[str, Any]) -> str:
    """Say in a few words what an artifact holds: how many of what, and its verdict."""
    lists = {name: cast("list[Any]", rows) for name, rows in body.items() if isinstance(rows, list)}
    counts = [f"{len(rows)} {name}" for name, rows in lists.items() if rows]
    said = [str(body[name]) for name in ("decision", "verdict", "action") if body.get(name)]
    return ", ".join([*said, *counts][:4])


def _kind(kind: str) -> str:
    return f"artifact:{kind}"
