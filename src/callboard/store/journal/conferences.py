"""Rows of conferences: who is invited, under which policy. Their rounds are runs."""

from dataclasses import dataclass
from typing import Any

from callboard.core.canonical import Json, compact_json
from callboard.core.errors import NotFound
from callboard.store.connection import Connection
from callboard.store.journal.encoding import decode


@dataclass(frozen=True, slots=True)
class ConferenceRow:
    """A conference as stored."""

    id: str
    session_id: str
    pack: str
    agents: tuple[str, ...]
    tool_policy: dict[str, Json]
    created_at: int


def insert_conference(connection: Connection, row: ConferenceRow) -> None:
    """Store a conference; one that is there already stays as it is."""
    connection.execute(
        "INSERT INTO conferences (id, session_id, pack, agents, tool_policy, created_at)"
        " VALUES (:id, :session_id, :pack, :agents, :tool_policy, :created_at)"
        " ON CONFLICT (id) DO NOTHING",
        {
            "id": row.id,
            "session_id": row.session_id,
            "pack": row.pack,
            "agents": compact_json(list(row.agents)),
            "tool_policy": compact_json(row.tool_policy),
            "created_at": row.created_at,
        },
    )


def find_conference(connection: Connection, conference_id: str) -> ConferenceRow | None:
    """Return a conference, or None."""
    row = connection.execute(
        "SELECT * FROM conferences WHERE id = :id", {"id": conference_id}
    ).fetchone()
    return _record(row) if row is not None else None


def load_conference(connection: Connection, conference_id: str) -> ConferenceRow:
    """Return a conference; an unknown id is an error."""
    found = find_conference(connection, conference_id)
    if found is None:
        raise NotFound(
            f"There is no conference {conference_id!r} in this project",
            fix="`callboard conference --list` shows the conferences.",
            conference_id=conference_id,
        )
    return found


def list_conferences(
    connection: Connection, *, session_id: str | None = None
) -> list[ConferenceRow]:
    """Return conferences, newest first."""
    rows = connection.execute(
        "SELECT * FROM conferences WHERE (:session_id IS NULL OR session_id = :session_id)"
        " ORDER BY created_at DESC, id DESC",
        {"session_id": session_id},
    )
    return [_record(row) for row in rows]


def _record(row: Any) -> ConferenceRow:
    return ConferenceRow(
        id=row["id"],
        session_id=row["session_id"],
        pack=row["pack"],
        agents=tuple(decode(row["agents"])),
        tool_policy=decode(row["tool_policy"]),
        created_at=row["created_at"],
    )
