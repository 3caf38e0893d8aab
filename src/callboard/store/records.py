"""Records: JSON documents a pack keeps about a project, by kind and id.

For what belongs to one pack and is always read as a whole: a mode, an outline, a tournament. What
two packs share, or what is searched by its content, has a table of its own.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from callboard.core.canonical import Json, compact_json
from callboard.core.clock import Clock
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.journal.encoding import decode

Body = dict[str, Any]


class Records:
    """The documents of one pack in one project."""

    def __init__(self, database: Database, pack: str, clock: Clock) -> None:
        """Take where they are kept and whose they are."""
        self._database = database
        self._pack = pack
        self._clock = clock

    def get(self, kind: str, record_id: str) -> Body | None:
        """Return one document, or None if there is none."""
        return self._database.read(lambda connection: self.load(connection, kind, record_id))

    def all(self, kind: str) -> dict[str, Body]:
        """Return every document of a kind by its id, oldest first."""
        return self._database.read(lambda connection: self.load_all(connection, kind))

    async def put(self, kind: str, record_id: str, body: Mapping[str, Json]) -> None:
        """Store a document; durable when this returns."""
        await self._database.write(lambda connection: self.store(connection, kind, record_id, body))

    async def change(
        self, kind: str, record_id: str, work: Callable[[Body | None], Mapping[str, Json]]
    ) -> Body:
        """Store what `work` makes of a document, with nobody between reading and writing."""

        def act(connection: Connection) -> Body:
            changed = dict(work(self.load(connection, kind, record_id)))
            self.store(connection, kind, record_id, changed)
            return changed

        return await self._database.write(act)

    async def delete(self, kind: str, record_id: str) -> bool:
        """Remove a document; say whether there was one."""
        return await self._database.write(
            lambda connection: self.remove(connection, kind, record_id)
        )

    def load(self, connection: Connection, kind: str, record_id: str) -> Body | None:
        """Return one document within a unit of work."""
        row: Any = connection.execute(
            "SELECT body FROM records WHERE pack = :pack AND kind = :kind AND id = :id",
            {"pack": self._pack, "kind": kind, "id": record_id},
        ).fetchone()
        return None if row is None else decode(row["body"])

    def load_all(self, connection: Connection, kind: str) -> dict[str, Body]:
        """Return every document of a kind within a unit of work, oldest first."""
        rows: Any = connection.execute(
            "SELECT id, body FROM records WHERE pack = :pack AND kind = :kind"
            " ORDER BY created_at, rowid",
            {"pack": self._pack, "kind": kind},
        )
        return {str(row["id"]): decode(row["body"]) for row in rows}

    def everything(self, connection: Connection) -> Iterator[tuple[str, str, Body]]:
        """Return every document with its kind and id, oldest first, within a unit of work."""
        rows: Any = connection.execute(
            "SELECT kind, id, body FROM records WHERE pack = :pack ORDER BY created_at, rowid",
            {"pack": self._pack},
        )
        for row in rows:
            yield str(row["kind"]), str(row["id"]), decode(row["body"])

    def store(
        self, connection: Connection, kind: str, record_id: str, body: Mapping[str, Json]
    ) -> None:
        """Store a document within a unit of work."""
        connection.execute(
            "INSERT INTO records (pack, kind, id, body, created_at, updated_at)"
            " VALUES (:pack, :kind, :id, :body, :now, :now)"
            " ON CONFLICT (pack, kind, id) DO UPDATE SET body = :body, updated_at = :now",
            {
                "pack": self._pack,
                "kind": kind,
                "id": record_id,
                "body": compact_json(dict(body)),
                "now": self._clock.now_ms(),
            },
        )

    def remove(self, connection: Connection, kind: str, record_id: str) -> bool:
        """Remove a document within a unit of work; say whether there was one."""
        removed = connection.execute(
            "DELETE FROM records WHERE pack = :pack AND kind = :kind AND id = :id",
            {"pack": self._pack, "kind": kind, "id": record_id},
        )
        return removed.rowcount > 0
