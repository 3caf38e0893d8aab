"""Rows of entities: a session's registry and its drafts as they are stored after a turn."""

from dataclasses import asdict, dataclass
from typing import Any

from callboard.core.canonical import Json, compact_json
from callboard.core.vocabulary import BatchKind, Entity, EntitySource, EntityState
from callboard.knowledge.entities.registry import EntityEvent, EntityRegistry, Lifetimes
from callboard.store.connection import Connection
from callboard.store.journal.encoding import decode


def save_registry(
    connection: Connection, session_id: str, registry: EntityRegistry, now: int
) -> None:
    """Store a registry as it is now, and what happened in it."""
    connection.execute(
        "INSERT INTO entity_registries (session_id, document, updated_at)"
        " VALUES (:session_id, :document, :now)"
        " ON CONFLICT (session_id) DO UPDATE SET document = :document, updated_at = :now",
        {"session_id": session_id, "document": compact_json(_document(registry)), "now": now},
    )
    for event in registry.drain_events():
        connection.execute(
            "INSERT INTO entity_events (session_id, turn, entity_id, label, change, reason, at)"
            " VALUES (:session_id, :turn, :entity_id, :label, :change, :reason, :at)",
            {"session_id": session_id, "at": now, **asdict(event)},
        )


def load_registry(
    connection: Connection, session_id: str, lifetimes: Lifetimes | None = None
) -> EntityRegistry:
    """Return a session's registry; a session that has none starts with an empty one."""
    row: Any = connection.execute(
        "SELECT document FROM entity_registries WHERE session_id = :session_id",
        {"session_id": session_id},
    ).fetchone()
    document: dict[str, Any] = {} if row is None else decode(row["document"])
    return EntityRegistry(
        [_entity(each) for each in document.get("entities", [])],
        document.get("aliases"),
        lifetimes=lifetimes or Lifetimes(),
        counters=document.get("counters"),
    )


def list_events(connection: Connection, session_id: str) -> list[EntityEvent]:
    """Return what happened to a session's things, oldest first."""
    rows: Any = connection.execute(
        "SELECT turn, entity_id, label, change, reason FROM entity_events"
        " WHERE session_id = :session_id ORDER BY seq",
        {"session_id": session_id},
    )
    return [EntityEvent(**dict(row)) for row in rows]


def _document(registry: EntityRegistry) -> dict[str, Any]:
    return {
        "entities": [{**asdict(each), "tags": list(each.tags)} for each in registry.all()],
        "aliases": dict(registry.aliases),
        "counters": dict(registry.counters),
    }


def _entity(data: dict[str, Any]) -> Entity:
    batch_kind = data["batch_kind"]
    read: dict[str, Any] = {
        "state": EntityState(data["state"]),
        "source": EntitySource(data["source"]),
        "batch_kind": None if batch_kind is None else BatchKind(batch_kind),
        "tags": tuple(data["tags"]),
    }
    return Entity(**(data | read))


@dataclass(frozen=True, slots=True)
class StoredContent:
    """Something that was generated; `db_id` is there once it was saved."""

    temp_id: str
    type: str
    label: str
    payload: dict[str, Any]
    db_id: str | None = None
    archived_at: int | None = None


def save_content(connection: Connection, session_id: str, content: StoredContent, now: int) -> None:
    """Keep content; the same id again replaces it."""
    connection.execute(
        "INSERT INTO entity_content"
        " (session_id, temp_id, type, label, payload, db_id, created_at, archived_at)"
        " VALUES (:session_id, :temp_id, :type, :label, :payload, :db_id, :now, NULL)"
        " ON CONFLICT (session_id, temp_id) DO UPDATE SET type = :type, label = :label,"
        " payload = :payload, db_id = :db_id, archived_at = NULL",
        {
            "session_id": session_id,
            "temp_id": content.temp_id,
            "type": content.type,
            "label": content.label,
            "payload": compact_json(content.payload),
            "db_id": content.db_id,
            "now": now,
        },
    )


def load_content(connection: Connection, session_id: str, temp_id: str) -> StoredContent | None:
    """Return content by its id."""
    row: Any = connection.execute(
        "SELECT * FROM entity_content WHERE session_id = :session_id AND temp_id = :temp_id",
        {"session_id": session_id, "temp_id": temp_id},
    ).fetchone()
    return None if row is None else _content(row)


def find_content(connection: Connection, session_id: str, label: str) -> tuple[StoredContent, ...]:
    """Return what was generated under a label, newest first, archived or not."""
    rows: Any = connection.execute(
        "SELECT * FROM entity_content WHERE session_id = :session_id"
        " ORDER BY created_at DESC, rowid DESC",
        {"session_id": session_id},
    )
    wanted = label.casefold().strip()
    return tuple(_content(row) for row in rows if wanted in str(row["label"]).casefold())


def link_content(connection: Connection, session_id: str, temp_id: str, db_id: str) -> None:
    """Note under which id content was saved in its domain."""
    connection.execute(
        "UPDATE entity_content SET db_id = :db_id"
        " WHERE session_id = :session_id AND temp_id = :temp_id",
        {"db_id": db_id, "session_id": session_id, "temp_id": temp_id},
    )


def archive_content(connection: Connection, session_id: str, temp_id: str, now: int) -> None:
    """Put content away; it stays readable."""
    values: dict[str, Json] = {"now": now, "session_id": session_id, "temp_id": temp_id}
    connection.execute(
        "UPDATE entity_content SET archived_at = :now"
        " WHERE session_id = :session_id AND temp_id = :temp_id AND archived_at IS NULL",
        values,
    )


def _content(row: Any) -> StoredContent:
    return StoredContent(
        temp_id=row["temp_id"],
        type=row["type"],
        label=row["label"],
        payload=decode(row["payload"]),
        db_id=row["db_id"],
        archived_at=row["archived_at"],
    )
