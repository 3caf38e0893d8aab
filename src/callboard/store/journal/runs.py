"""Rows of runs, and of the claims on them. Every update refuses to touch a terminal state.

A claim says how often a run was taken up, and how often its process died in vain. The epoch tells
two claims apart, also of one process: whatever a run writes is checked against it, so that an
execution that has lost its run can write nothing more into it.
"""

from dataclasses import dataclass
from typing import Any, Final

from callboard.core.canonical import Json, compact_json
from callboard.core.errors import ErrorRecord, NotFound
from callboard.core.vocabulary.run import RunRecord, RunState
from callboard.store.connection import Connection
from callboard.store.journal.encoding import decode, decode_error, row_of

_OPEN: Final = "state NOT IN ('done', 'failed', 'cancelled')"


def insert_run(connection: Connection, run: RunRecord) -> None:
    """Store a new run."""
    connection.execute(
        "INSERT INTO runs (id, position, session_id, choreography, title, state, args,"
        " parent_id, parent_seq, origin, owner, created_at, updated_at)"
        " VALUES (:id, (SELECT COALESCE(MAX(position), 0) + 1 FROM runs), :session_id,"
        " :choreography, :title, :state, :args, :parent_id, :parent_seq, :origin, :owner,"
        " :created_at, :created_at)",
        {
            "id": run.id,
            "session_id": run.session_id,
            "choreography": run.choreography,
            "title": run.title,
            "state": run.state.value,
            "args": compact_json(run.args),
            "parent_id": run.parent_id,
            "parent_seq": run.parent_seq,
            "origin": run.origin,
            "owner": run.owner,
            "created_at": run.created_at,
        },
    )


def find_run(connection: Connection, run_id: str) -> RunRecord | None:
    """Return a run, or None."""
    row = connection.execute("SELECT * FROM runs WHERE id = :id", {"id": run_id}).fetchone()
    return _record(row) if row is not None else None


def load_run(connection: Connection, run_id: str) -> RunRecord:
    """Return a run; an unknown id is an error that says how to find the right one."""
    run = find_run(connection, run_id)
    if run is None:
        raise NotFound(
            f"There is no run {run_id!r} in this project",
            fix="`callboard runs list` shows the runs.",
            run_id=run_id,
        )
    return run


def match_runs(connection: Connection, prefix: str) -> list[str]:
    """Return the ids that begin or end with a few characters the user typed, newest first."""
    rows = connection.execute("SELECT id FROM runs ORDER BY position DESC").fetchall()
    return [row["id"] for row in rows if row["id"].startswith(prefix) or row["id"].endswith(prefix)]


def list_runs(
    connection: Connection,
    *,
    states: tuple[RunState, ...] = (),
    session_id: str | None = None,
    choreography: str | None = None,
    before: str | None = None,
    limit: int | None = None,
    latest_first: bool = False,
) -> list[RunRecord]:
    """Return runs, newest first, or with `latest_first` in the order they last changed.

    With `before` only those are returned that were made before that run.
    """
    wheres = ["1 = 1"]
    params: dict[str, Any] = {}
    if states:
        names = [f":state{number}" for number in range(len(states))]
        wheres.append(f"state IN ({', '.join(names)})")
        params.update({f"state{number}": s.value for number, s in enumerate(states)})
    if session_id is not None:
        wheres.append("session_id = :session_id")
        params["session_id"] = session_id
    if choreography is not None:
        wheres.append("choreography = :choreography")
        params["choreography"] = choreography
    if before is not None:
        wheres.append("position < (SELECT position FROM runs WHERE id = :before)")
        params["before"] = before
    tail = ""
    if limit is not None:
        tail = " LIMIT :limit"
        params["limit"] = max(0, limit)
    order = "updated_at DESC, position DESC" if latest_first else "position DESC"
    sql = f"SELECT * FROM runs WHERE {' AND '.join(wheres)} ORDER BY {order}{tail}"  # noqa: S608 - only literals above
    return [_record(row) for row in connection.execute(sql, params).fetchall()]


def unfinished_owners(connection: Connection) -> list[tuple[str, str | None, int]]:
    """Return every run that is to go on by itself: id, owner and when it was made; oldest first."""
    rows = connection.execute(
        "SELECT id, owner, created_at FROM runs WHERE state IN ('pending', 'running', 'waiting')"
        " ORDER BY position"
    )
    return [(row["id"], row["owner"], row["created_at"]) for row in rows.fetchall()]


def set_state(
    connection: Connection, run_id: str, state: RunState, owner: str | None, at: int
) -> bool:
    """Move an open run to a state on behalf of its owner; say whether it was allowed."""
    cursor = connection.execute(
        "UPDATE runs SET state = :state, updated_at = :at"  # noqa: S608 - a literal
        f" WHERE id = :id AND {_OPEN} AND (owner = :owner OR (owner IS NULL AND :owner IS NULL))",
        {"id": run_id, "state": state.value, "owner": owner, "at": at},
    )
    return cursor.rowcount == 1


def finish(
    connection: Connection,
    run_id: str,
    state: RunState,
    owner: str | None,
    at: int,
    *,
    result: Json = None,
    error: ErrorRecord | None = None,
) -> bool:
    """End an open run on behalf of its owner; say whether it was allowed."""
    cursor = connection.execute(
        "UPDATE runs SET state = :state, result = :result, error = :error, owner = NULL,"  # noqa: S608 - a literal
        " updated_at = :at"
        f" WHERE id = :id AND {_OPEN} AND (owner = :owner OR (owner IS NULL AND :owner IS NULL))",
        {
            "id": run_id,
            "state": state.value,
            "result": compact_json(result) if result is not None else None,
            "error": compact_json(error.to_json()) if error is not None else None,
            "owner": owner,
            "at": at,
        },
    )
    return cursor.rowcount == 1


def claim(connection: Connection, run_id: str, owner: str, previous: str | None) -> bool:
    """Make a process the owner of an open run, if `previous` still is (None: nobody)."""
    cursor = connection.execute(
        f"UPDATE runs SET owner = :owner WHERE id = :id AND {_OPEN}"  # noqa: S608 - a literal
        " AND (owner = :previous OR (owner IS NULL AND :previous IS NULL))",
        {"id": run_id, "owner": owner, "previous": previous},
    )
    return cursor.rowcount == 1


def release(connection: Connection, run_id: str, owner: str) -> None:
    """Give up a run so that another process may take it."""
    connection.execute(
        "UPDATE runs SET owner = NULL WHERE id = :id AND owner = :owner",
        {"id": run_id, "owner": owner},
    )


def pause_unfinished(connection: Connection, at: int) -> int:
    """Stop every unfinished run and forget who owned it; return how many there were."""
    connection.execute("DELETE FROM processes")
    return connection.execute(
        f"UPDATE runs SET state = :state, owner = NULL, updated_at = :at WHERE {_OPEN}",  # noqa: S608 - a literal
        {"state": RunState.PAUSED.value, "at": at},
    ).rowcount


@row_of("runs", "id")
def _record(row: Any) -> RunRecord:
    return RunRecord(
        id=row["id"],
        session_id=row["session_id"],
        choreography=row["choreography"],
        title=row["title"],
        state=RunState(row["state"]),
        args=decode(row["args"]),
        result=decode(row["result"]),
        error=decode_error(row["error"]),
        parent_id=row["parent_id"],
        parent_seq=row["parent_seq"],
        origin=row["origin"],
        owner=row["owner"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


OWNED: Final = (
    "SELECT 1 FROM runs JOIN claims ON claims.run_id = runs.id"
    " WHERE runs.id = ? AND runs.owner = ? AND claims.epoch = ?"
)
"""Finds something only while a claim holds."""


@dataclass(frozen=True, slots=True)
class Owner:
    """One claim of a run: the process that made it, and the how-manieth it was."""

    process_id: str
    epoch: int


def owned_values(run_id: str, owner: Owner) -> tuple[str, str, int]:
    """Return the values of `OWNED`."""
    return run_id, owner.process_id, owner.epoch


def holds(connection: Connection, run_id: str, owner: Owner) -> bool:
    """Say whether a claim still holds."""
    return connection.execute(OWNED, owned_values(run_id, owner)).fetchone() is not None


def deaths_in_vain(connection: Connection, run_id: str) -> int:
    """Return how many owners in a row have died since the run last finished a step.

    To be asked about a run whose last owner has just been found dead: it is counted.
    """
    row = _row(connection, run_id)
    return 1 if row is None or _newest(connection, run_id) > row["seq"] else row["deaths"] + 1


def take(
    connection: Connection, run_id: str, process_id: str, previous: str | None, *, deaths: int
) -> Owner:
    """Make a process the owner of an open run whose owner was `previous` a moment ago."""
    claim(connection, run_id, process_id, previous)
    row = _row(connection, run_id)
    epoch = 1 if row is None else row["epoch"] + 1
    connection.execute(
        "INSERT INTO claims (run_id, epoch, deaths, seq) VALUES (:run_id, :epoch, :deaths, :seq)"
        " ON CONFLICT (run_id) DO UPDATE SET epoch = :epoch, deaths = :deaths, seq = :seq",
        {
            "run_id": run_id,
            "epoch": epoch,
            "deaths": deaths,
            "seq": _newest(connection, run_id),
        },
    )
    return Owner(process_id, epoch)


def _row(connection: Connection, run_id: str) -> "dict[str, int] | None":
    row = connection.execute(
        "SELECT epoch, deaths, seq FROM claims WHERE run_id = :run_id", {"run_id": run_id}
    ).fetchone()
    return None if row is None else {name: int(row[name]) for name in ("epoch", "deaths", "seq")}


def _newest(connection: Connection, run_id: str) -> int:
    row = connection.execute(
        "SELECT MAX(seq) AS seq FROM steps WHERE run_id = :run_id AND state NOT IN ('intent')",
        {"run_id": run_id},
    ).fetchone()
    return int(row["seq"] or 0)
