"""Rows of claims: how often a run was taken up, and how often its process died in vain.

The epoch tells two claims apart, also of one process: whatever a run writes is checked against it,
so that an execution that has lost its run can write nothing more into it.
"""

from dataclasses import dataclass
from typing import Final

from callboard.store.connection import Connection
from callboard.store.journal.runs import claim

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
