"""Rows of events: appended with what they report, read in order by anybody."""

import json
from typing import Any, Final

from callboard.core.canonical import compact_json
from callboard.core.events import Event, EventBody, body_from_json, body_to_json
from callboard.store.connection import Connection
from callboard.store.journal.encoding import row_of
from callboard.store.writer import Statement

_APPEND: Final = (
    "INSERT INTO events (at, type, session_id, run_id, step_key, data) VALUES (?, ?, ?, ?, ?, ?)"
)


def append_event(
    connection: Connection,
    body: EventBody,
    *,
    at: int,
    session_id: str | None = None,
    run_id: str | None = None,
    step_key: str | None = None,
) -> None:
    """Store one event in the transaction of what it reports."""
    connection.execute(*event_row(body, at, session_id, run_id, step_key))


def event_row(
    body: EventBody,
    at: int,
    session_id: str | None,
    run_id: str | None,
    step_key: str | None,
) -> Statement:
    """Return the insert of one event, to be executed with those of others."""
    data = compact_json(body_to_json(body))
    return _APPEND, (at, body.type, session_id, run_id, step_key, data)


def read_events(
    connection: Connection,
    *,
    after: int = 0,
    run_id: str | None = None,
    session_id: str | None = None,
    limit: int = 500,
) -> list[Event]:
    """Return stored events after a sequence number, oldest first."""
    wheres = ["seq > :after"]
    params: dict[str, Any] = {"after": after, "limit": limit}
    if run_id is not None:
        wheres.append("run_id = :run_id")
        params["run_id"] = run_id
    if session_id is not None:
        wheres.append("session_id = :session_id")
        params["session_id"] = session_id
    sql = f"SELECT * FROM events WHERE {' AND '.join(wheres)} ORDER BY seq LIMIT :limit"  # noqa: S608 - only literals above
    return [_event(row) for row in connection.execute(sql, params)]


def last_event_seq(connection: Connection) -> int:
    """Return the sequence number of the newest event, 0 if there is none."""
    return int(
        connection.execute("SELECT COALESCE(MAX(seq), 0) AS seq FROM events").fetchone()["seq"]
    )


@row_of("events", "seq")
def _event(row: Any) -> Event:
    return Event(
        seq=row["seq"],
        at=row["at"],
        body=body_from_json(row["type"], json.loads(row["data"])),
        session_id=row["session_id"],
        run_id=row["run_id"],
        step_key=row["step_key"],
    )


def latest_runs(connection: Connection, most_events: int) -> list[str]:
    """Return the runs that the newest events tell of, as far back as is asked."""
    rows = connection.execute(
        "SELECT DISTINCT run_id FROM"
        " (SELECT run_id FROM events ORDER BY seq DESC LIMIT :most_events)"
        " WHERE run_id IN (SELECT id FROM runs)",
        {"most_events": most_events},
    )
    return [str(row["run_id"]) for row in rows]
