"""Rows of events: appended with what they report, read in order by anybody.

What a finished step gave lies in the step's own row: its event only says that it ended, and is
filled in from there when it is read.
"""

import json
from typing import Any, Final

from callboard.core.canonical import compact_json
from callboard.core.events import Event, EventBody, body_from_json, body_to_json
from callboard.core.run_events import StepDone
from callboard.core.vocabulary.run import StepRecord
from callboard.store.connection import Connection
from callboard.store.journal.encoding import row_of
from callboard.store.writer import Statement

_APPEND: Final = (
    "INSERT INTO events (at, type, session_id, run_id, step_key, data) VALUES (?, ?, ?, ?, ?, ?)"
)

_READ: Final = (
    "SELECT events.seq, events.at, events.type, events.session_id, events.run_id, events.step_key,"
    " events.data, steps.output, steps.slot, steps.detail FROM events LEFT JOIN steps"
    " ON events.type = 'step.done' AND steps.run_id = events.run_id AND steps.key = events.step_key"
)
# Marks the event of a step whose row tells the rest.
_IN_ROW: Final = "in_row"
_PREVIEW_CHARS: Final = 200


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


def step_done_row(step: StepRecord, duration_ms: int, session_id: str) -> Statement:
    """Return the insert of the event of a finished step, without what is in the step's row."""
    data = f'{{"kind":"{step.kind.value}","duration_ms":{duration_ms},"{_IN_ROW}":1}}'
    return _APPEND, (step.ended_at, StepDone.type, session_id, step.run_id, step.key, data)


def preview_of(output: str) -> str:
    """Return the beginning of an output, which is JSON, on one line, as a reader of events sees it.

    Of a text that is what it says.
    """
    text = output
    if output.startswith('"'):
        text = str(json.loads(output))
    return " ".join(text[:_PREVIEW_CHARS].split())


def read_events(
    connection: Connection,
    *,
    after: int = 0,
    run_id: str | None = None,
    session_id: str | None = None,
    limit: int = 500,
) -> list[Event]:
    """Return stored events after a sequence number, oldest first."""
    wheres = ["events.seq > :after"]
    params: dict[str, Any] = {"after": after, "limit": limit}
    if run_id is not None:
        wheres.append("events.run_id = :run_id")
        params["run_id"] = run_id
    if session_id is not None:
        wheres.append("events.session_id = :session_id")
        params["session_id"] = session_id
    sql = f"{_READ} WHERE {' AND '.join(wheres)} ORDER BY events.seq LIMIT :limit"
    return [_event(row) for row in connection.execute(sql, params)]


def last_event_seq(connection: Connection) -> int:
    """Return the sequence number of the newest event, 0 if there is none."""
    return int(
        connection.execute("SELECT COALESCE(MAX(seq), 0) AS seq FROM events").fetchone()["seq"]
    )


@row_of("events", "seq")
def _event(row: Any) -> Event:
    data = json.loads(row["data"])
    if data.get(_IN_ROW) and row["output"] is not None:
        data["preview"] = preview_of(row["output"])
        data["slot"] = row["slot"]
        data["detail"] = json.loads(row["detail"]) if row["detail"] else {}
    return Event(
        seq=row["seq"],
        at=row["at"],
        body=body_from_json(row["type"], data),
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
