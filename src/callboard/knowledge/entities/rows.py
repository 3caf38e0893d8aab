"""Rows of entities: a session's registry as it is stored after a turn, with the log of changes."""

from dataclasses import asdict
from typing import Any

from callboard.core.canonical import compact_json
from callboard.core.vocabulary import BatchKind, Entity, EntitySource, EntityState
from callboard.knowledge.entities.registry import EntityEvent, Lifetimes, Registry
from callboard.store.connection import Connection
from callboard.store.journal.encoding import decode


def save_registry(connection: Connection, session_id: str, registry: Registry, now: int) -> None:
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
) -> Registry:
    """Return a session's registry; a session that has none starts with an empty one."""
    row: Any = connection.execute(
        "SELECT document FROM entity_registries WHERE session_id = :session_id",
        {"session_id": session_id},
    ).fetchone()
    document: dict[str, Any] = {} if row is None else decode(row["document"])
    return Registry(
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


def _document(registry: Registry) -> dict[str, Any]:
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
