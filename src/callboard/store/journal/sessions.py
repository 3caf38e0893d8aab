"""Rows of sessions. A state changes only along an allowed transition, in one statement."""

from typing import Any

from callboard.core.canonical import Json, compact_json
from callboard.core.errors import NotFound
from callboard.core.vocabulary.run import SessionRecord, SessionState
from callboard.store.connection import Connection
from callboard.store.journal.encoding import decode, row_of

_STAMPS = {
    SessionState.ACTIVE: "activated_at",
    SessionState.SUSPENDED: "suspended_at",
    SessionState.COMPLETED: "completed_at",
    SessionState.FAILED: "completed_at",
}


def insert_session(connection: Connection, session: SessionRecord) -> None:
    """Store a new session."""
    connection.execute(
        "INSERT INTO sessions (id, position, name, state, context, created_at, last_active_at)"
        " VALUES (:id, (SELECT COALESCE(MAX(position), 0) + 1 FROM sessions), :name, :state,"
        " :context, :at, :at)",
        {
            "id": session.id,
            "name": session.name,
            "state": session.state.value,
            "context": compact_json(session.context),
            "at": session.created_at,
        },
    )


def load_session(connection: Connection, session_id: str) -> SessionRecord:
    """Return a session by id or by name; an unknown one is an error."""
    row = connection.execute(
        "SELECT * FROM sessions WHERE id = :id OR name = :id ORDER BY id = :id DESC, position DESC",
        {"id": session_id},
    ).fetchone()
    if row is None:
        raise NotFound(
            f"There is no session {session_id!r} in this project",
            fix="`callboard sessions list` shows the sessions.",
            session_id=session_id,
        )
    return _record(row)


def list_sessions(connection: Connection, state: SessionState | None = None) -> list[SessionRecord]:
    """Return sessions, newest first."""
    rows = connection.execute(
        "SELECT * FROM sessions WHERE (:state IS NULL OR state = :state) ORDER BY position DESC",
        {"state": state.value if state is not None else None},
    )
    return [_record(row) for row in rows]


def move_session(
    connection: Connection,
    session_id: str,
    old: SessionState,
    new: SessionState,
    at: int,
    summary: str = "",
) -> bool:
    """Change the state if it still is the old one; say whether it was."""
    stamp = _STAMPS[new]
    cursor = connection.execute(
        f"UPDATE sessions SET state = :new, {stamp} = :at, last_active_at = :at,"  # noqa: S608 - a column name from a fixed table
        " summary = CASE WHEN :summary = '' THEN summary ELSE :summary END"
        " WHERE id = :id AND state = :old",
        {"id": session_id, "old": old.value, "new": new.value, "at": at, "summary": summary},
    )
    return cursor.rowcount == 1


def touch_session(connection: Connection, session_id: str, at: int) -> None:
    """Note that the session was used."""
    connection.execute(
        "UPDATE sessions SET last_active_at = :at WHERE id = :id", {"id": session_id, "at": at}
    )


def set_context(connection: Connection, session_id: str, context: dict[str, Json], at: int) -> None:
    """Replace a session's context."""
    connection.execute(
        "UPDATE sessions SET context = :context, last_active_at = :at WHERE id = :id",
        {"id": session_id, "context": compact_json(context), "at": at},
    )


@row_of("sessions", "id")
def _record(row: Any) -> SessionRecord:
    return SessionRecord(
        id=row["id"],
        name=row["name"],
        state=SessionState(row["state"]),
        context=decode(row["context"]),
        summary=row["summary"],
        created_at=row["created_at"],
        activated_at=row["activated_at"],
        suspended_at=row["suspended_at"],
        completed_at=row["completed_at"],
        last_active_at=row["last_active_at"],
    )
