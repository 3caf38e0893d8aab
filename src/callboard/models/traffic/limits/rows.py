"""The rows of `limiter_states`: how processes tell each other that a credential is paused."""

from dataclasses import dataclass
from typing import Any

from callboard.store.connection import Connection


@dataclass(frozen=True, slots=True)
class PauseRow:
    """The latest pause of a credential; `resumed_at` is empty until somebody told its end.

    `attempt` counts the pauses since the last success, which sets it to zero.
    """

    credential: str
    attempt: int
    paused_at: int
    resume_at: int
    reason: str
    resumed_at: int | None = None


def load_pauses(connection: Connection) -> list[PauseRow]:
    """Return the latest pause of every credential that ever had one."""
    rows = connection.execute("SELECT * FROM limiter_states")
    return [_pause(row) for row in rows]


def begin_pause(connection: Connection, pause: PauseRow) -> tuple[bool, PauseRow]:
    """Store a pause, or prolong the one in force; say whether it is new, and what is stored."""
    row = connection.execute(
        "SELECT * FROM limiter_states WHERE credential = :credential",
        {"credential": pause.credential},
    ).fetchone()
    known = None if row is None else _pause(row)
    is_new = known is None or known.resumed_at is not None or known.resume_at <= pause.paused_at
    if known is not None and not is_new:
        pause = PauseRow(
            known.credential,
            known.attempt,
            known.paused_at,
            max(known.resume_at, pause.resume_at),
            known.reason,
        )
    connection.execute(
        "INSERT INTO limiter_states"
        " (credential, attempt, paused_at, resume_at, reason, resumed_at)"
        " VALUES (:credential, :attempt, :paused_at, :resume_at, :reason, NULL)"
        " ON CONFLICT (credential) DO UPDATE SET attempt = :attempt, paused_at = :paused_at,"
        " resume_at = :resume_at, reason = :reason, resumed_at = NULL",
        {
            "credential": pause.credential,
            "attempt": pause.attempt,
            "paused_at": pause.paused_at,
            "resume_at": pause.resume_at,
            "reason": pause.reason,
        },
    )
    return is_new, pause


def end_pause(connection: Connection, credential: str, paused_at: int, now: int) -> bool:
    """Mark a pause as over; only one of all processes hears yes, and that one tells it."""
    cursor = connection.execute(
        "UPDATE limiter_states SET resumed_at = :now"
        " WHERE credential = :credential AND paused_at <= :paused_at AND resumed_at IS NULL",
        {"credential": credential, "paused_at": paused_at, "now": now},
    )
    return cursor.rowcount == 1


def clear_attempts(connection: Connection, credential: str, paused_at: int) -> None:
    """Forget the pauses before a success, unless a newer one has begun."""
    connection.execute(
        "UPDATE limiter_states SET attempt = 0"
        " WHERE credential = :credential AND paused_at <= :paused_at",
        {"credential": credential, "paused_at": paused_at},
    )


def _pause(row: Any) -> PauseRow:
    return PauseRow(
        row["credential"],
        row["attempt"],
        row["paused_at"],
        row["resume_at"],
        row["reason"],
        row["resumed_at"],
    )
