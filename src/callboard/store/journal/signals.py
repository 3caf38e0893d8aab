"""Rows of signals, in the order in which they were sent, and what became of them."""

from typing import Any

from callboard.core.vocabulary.run import RunState, SignalKind, SignalRecord
from callboard.store.connection import Connection
from callboard.store.journal.encoding import row_of


def insert_signal(connection: Connection, signal: SignalRecord) -> None:
    """Store a signal that somebody sent."""
    connection.execute(
        "INSERT INTO signals (id, position, run_id, kind, reason, created_at)"
        " VALUES (:id, (SELECT COALESCE(MAX(position), 0) + 1 FROM signals), :run_id, :kind,"
        " :reason, :created_at)",
        {
            "id": signal.id,
            "run_id": signal.run_id,
            "kind": signal.kind.value,
            "reason": signal.reason,
            "created_at": signal.created_at,
        },
    )


def acknowledge(connection: Connection, signal_id: str, state: RunState, at: int) -> bool:
    """Note the state in which a signal took effect, once."""
    cursor = connection.execute(
        "UPDATE signals SET acknowledged_at = :at, acknowledged_state = :state"
        " WHERE id = :id AND acknowledged_at IS NULL",
        {"id": signal_id, "state": state.value, "at": at},
    )
    return cursor.rowcount == 1


def load_signal(connection: Connection, signal_id: str) -> SignalRecord | None:
    """Return a signal, or None."""
    row = connection.execute("SELECT * FROM signals WHERE id = :id", {"id": signal_id}).fetchone()
    return _record(row) if row is not None else None


def open_signals(connection: Connection, owner: str) -> list[SignalRecord]:
    """Return the signals a process has still to act on, oldest first."""
    rows = connection.execute(
        "SELECT signals.* FROM signals JOIN runs ON runs.id = signals.run_id"
        " WHERE signals.acknowledged_at IS NULL AND runs.owner = :owner"
        " ORDER BY signals.position",
        {"owner": owner},
    )
    return [_record(row) for row in rows]


def open_signals_of(connection: Connection, run_id: str) -> list[SignalRecord]:
    """Return a run's signals that have not taken effect, oldest first."""
    rows = connection.execute(
        "SELECT * FROM signals WHERE run_id = :run_id AND acknowledged_at IS NULL"
        " ORDER BY position",
        {"run_id": run_id},
    )
    return [_record(row) for row in rows]


def last_pause_reason(connection: Connection, run_id: str) -> str:
    """Return why a run was last asked to pause, empty if it never was."""
    row = connection.execute(
        "SELECT reason FROM signals WHERE run_id = :run_id AND kind = 'pause'"
        " ORDER BY position DESC",
        {"run_id": run_id},
    ).fetchone()
    return row["reason"] if row is not None else ""


@row_of("signals", "id")
def _record(row: Any) -> SignalRecord:
    state = row["acknowledged_state"]
    return SignalRecord(
        id=row["id"],
        run_id=row["run_id"],
        kind=SignalKind(row["kind"]),
        created_at=row["created_at"],
        reason=row["reason"],
        acknowledged_at=row["acknowledged_at"],
        acknowledged_state=RunState(state) if state is not None else None,
    )
