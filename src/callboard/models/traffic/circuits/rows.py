"""Rows of circuits: one per resource, changed only on the revision that was read."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from callboard.core.breaker import Breaker, CircuitState, Probe
from callboard.core.canonical import compact_json
from callboard.store.connection import Connection, StoreBusy
from callboard.store.journal.encoding import row_of

T = TypeVar("T")

_MAX_CONFLICTS: Final = 10

Move = Callable[[Breaker, int], tuple[Breaker, T]]
"""Takes a circuit and the time; returns the circuit afterwards and an answer."""


@dataclass(frozen=True, slots=True)
class StoredBreaker:
    """A circuit as the store holds it; `revision` grows with every write, 0 means no row."""

    resource: str
    breaker: Breaker
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Moved(Generic[T]):
    """What one transaction made of a circuit, and its answer."""

    before: Breaker
    after: StoredBreaker
    answer: T


def list_breakers(connection: Connection) -> list[StoredBreaker]:
    """Return every circuit somebody has used."""
    return [_stored(row) for row in connection.execute("SELECT * FROM breakers ORDER BY resource")]


def find_breaker(connection: Connection, resource: str) -> StoredBreaker:
    """Return the circuit of a resource; one nobody has used is closed."""
    row = connection.execute(
        "SELECT * FROM breakers WHERE resource = :resource", {"resource": resource}
    ).fetchone()
    return StoredBreaker(resource, Breaker()) if row is None else _stored(row)


def transact(connection: Connection, resource: str, move: Move[T], now_ms: int) -> Moved[T]:
    """Read a circuit, move it and write it back, all in the caller's transaction."""
    for _ in range(_MAX_CONFLICTS):
        stored = find_breaker(connection, resource)
        after, answer = move(stored.breaker, now_ms)
        if after == stored.breaker:
            return Moved(stored.breaker, stored, answer)
        changed = StoredBreaker(resource, after, stored.revision + 1)
        if _save(connection, changed):
            return Moved(stored.breaker, changed, answer)
    raise StoreBusy(f"The circuit of {resource!r} is changed by too many processes at once.")


def _save(connection: Connection, stored: StoredBreaker) -> bool:
    """Write a circuit over the revision it was worked out from; say whether that still stood."""
    breaker = stored.breaker
    values = {
        "resource": stored.resource,
        "state": breaker.state.value,
        "failures": breaker.failures,
        "successes": breaker.successes,
        "results": "".join("1" if failed else "0" for failed in breaker.window),
        "probes": compact_json([[probe.serial, probe.until_ms] for probe in breaker.probes]),
        "serial": breaker.serial,
        "changed_at": breaker.changed_at_ms,
        "failed_at": breaker.failed_at_ms,
        "cooldown_until": breaker.cooldown_until_ms,
        "revision": stored.revision,
    }
    if stored.revision == 1:
        sql = (
            "INSERT INTO breakers (resource, state, failures, successes, results, probes, serial,"
            " changed_at, failed_at, cooldown_until, revision) VALUES (:resource, :state,"
            " :failures, :successes, :results, :probes, :serial, :changed_at, :failed_at,"
            " :cooldown_until, :revision) ON CONFLICT (resource) DO NOTHING"
        )
    else:
        sql = (
            "UPDATE breakers SET state = :state, failures = :failures, successes = :successes,"
            " results = :results, probes = :probes, serial = :serial, changed_at = :changed_at,"
            " failed_at = :failed_at, cooldown_until = :cooldown_until, revision = :revision"
            " WHERE resource = :resource AND revision = :revision - 1"
        )
    return connection.execute(sql, values).rowcount == 1


@row_of("breakers", "resource")
def _stored(row: Any) -> StoredBreaker:
    breaker = Breaker(
        state=CircuitState(row["state"]),
        failures=row["failures"],
        successes=row["successes"],
        window=tuple(result == "1" for result in row["results"]),
        probes=tuple(Probe(serial, until) for serial, until in json.loads(row["probes"])),
        serial=row["serial"],
        changed_at_ms=row["changed_at"],
        failed_at_ms=row["failed_at"],
        cooldown_until_ms=row["cooldown_until"],
    )
    return StoredBreaker(row["resource"], breaker, row["revision"])
