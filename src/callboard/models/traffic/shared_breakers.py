"""SharedBreakers: circuits that every process on the project knows, one stored row each.

A row is changed only on the revision that was read.

Whether a call may pass is read from a copy in memory, at most half a second old. Every result and
every claim to be the probe is one transaction on the stored row, which alone decides.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from callboard.core.breaker import (
    Breaker,
    BreakerOutcome,
    BreakerProbe,
    CircuitRefusal,
    CircuitState,
    Permit,
    admit,
    report,
    reset,
    rules_for,
)
from callboard.core.canonical import compact_json
from callboard.core.clock import Clock, SystemClock
from callboard.core.settings.circuit import BreakerRules, breaker_rules
from callboard.models.traffic.breaker import change_of
from callboard.models.types import Notify, say_nothing
from callboard.store.connection import Connection, StoreBusy
from callboard.store.database import Database
from callboard.store.journal.encoding import row_of

_log = logging.getLogger(__name__)


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
        probes=tuple(BreakerProbe(serial, until) for serial, until in json.loads(row["probes"])),
        serial=row["serial"],
        changed_at_ms=row["changed_at"],
        failed_at_ms=row["failed_at"],
        cooldown_until_ms=row["cooldown_until"],
    )
    return StoredBreaker(row["resource"], breaker, row["revision"])


_STALE_SECONDS: Final = 0.5


class SharedBreakers:
    """Gives leave and takes results for all processes that share a database."""

    def __init__(
        self,
        database: Database,
        rules: Mapping[str, BreakerRules] = breaker_rules,
        *,
        clock: Clock | None = None,
        notify: Notify = say_nothing,
    ) -> None:
        """Take the rules by class of resource; whoever changes a circuit tells of it."""
        self._database = database
        self._rules = rules
        self._clock = clock or SystemClock()
        self._notify = notify
        self._known: dict[str, StoredBreaker] = {}
        self._looked_at: float | None = None
        self._version: int | None = None

    async def admit(self, resource: str) -> Permit | CircuitRefusal:
        """Ask for leave to make one call; after the cooldown exactly one asker gets to probe."""
        self._look()
        rules = rules_for(resource, self._rules)
        known = self.breaker(resource)
        after, answer = admit(known, rules, self._clock.now_ms())
        if after == known:
            return answer
        return await self._move(resource, lambda breaker, now: admit(breaker, rules, now))

    async def report(self, resource: str, permit: Permit, outcome: BreakerOutcome) -> None:
        """Say what a permitted call tells about the resource."""
        if (
            outcome is BreakerOutcome.SUCCEEDED
            and not permit.is_probe
            and self._is_old_news(resource)
        ):
            return
        recorded = self._move(resource, self._reported(resource, permit, outcome))
        # A healthy call waits for nobody's disk; what decides over the next call is waited for.
        # A store that fails must not take the call's own outcome with it: the log tells of it.
        if permit.is_probe or outcome is BreakerOutcome.FAILED:
            await asyncio.wait((recorded,))

    def withdraw(self, resource: str, permit: Permit) -> None:
        """Give back a permit of a call that was given up; never waits."""
        if permit.is_probe:
            self._move(resource, self._reported(resource, permit, BreakerOutcome.ABANDONED))

    async def reset(self, resource: str) -> Breaker:
        """Close a circuit by hand, for every process, and return what it was."""

        def close(breaker: Breaker, now_ms: int) -> tuple[Breaker, Breaker]:
            return reset(breaker, now_ms), breaker

        return await self._move(resource, close, by_hand=True)

    def breaker(self, resource: str) -> Breaker:
        """Return a circuit as it was when last looked at; one nobody has used is closed."""
        known = self._known.get(resource)
        return Breaker() if known is None else known.breaker

    def _is_old_news(self, resource: str) -> bool:
        """Say whether one more success changes nothing: a healthy circuit costs no write."""
        known, rules = self.breaker(resource), rules_for(resource, self._rules)
        is_full = len(known.window) >= rules.window_size
        return is_full and not known.failures and not any(known.window)

    def _reported(self, resource: str, permit: Permit, outcome: BreakerOutcome) -> Move[None]:
        rules = rules_for(resource, self._rules)
        return lambda breaker, now: (report(breaker, permit, outcome, rules, now), None)

    def _look(self) -> None:
        """Read all circuits again if the copy is old and anybody has written since."""
        now, looked_at = self._clock.monotonic(), self._looked_at
        if looked_at is not None and now - looked_at <= _STALE_SECONDS:
            return
        self._looked_at = now
        version = self._database.version_seen()
        if version != self._version:
            self._version = version
            for stored in self._database.read(list_breakers):
                self._learn(stored)

    def _learn(self, stored: StoredBreaker) -> None:
        known = self._known.get(stored.resource)
        if known is None or known.revision <= stored.revision:
            self._known[stored.resource] = stored

    def _move(self, resource: str, move: Move[T], *, by_hand: bool = False) -> "asyncio.Future[T]":
        """Change a circuit in one transaction; happens also if nobody waits for the answer."""
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[T] = loop.create_future()

        def work(connection: Connection) -> Moved[T]:
            return transact(connection, resource, move, self._clock.now_ms())

        def hear(committed: "Future[Moved[T]]") -> None:
            try:
                loop.call_soon_threadsafe(self._hear, committed, waiting, by_hand)
            except RuntimeError:
                _log.debug("a circuit was changed for an event loop that is already closed")

        self._database.submit(work).add_done_callback(hear)
        return waiting

    def _hear(
        self, committed: "Future[Moved[T]]", waiting: "asyncio.Future[T]", by_hand: bool
    ) -> None:
        """Learn and tell what was committed, then answer whoever still waits."""
        error = committed.exception()
        if error is not None:
            _log.warning("a circuit breaker could not be stored: %s", error)
            if not waiting.done():
                waiting.set_exception(error)
                waiting.exception()  # seen here, as perhaps nobody waits for it
            return
        moved = committed.result()
        resource = moved.after.resource
        self._learn(moved.after)
        rules = rules_for(resource, self._rules)
        change = change_of(resource, moved.before, moved.after.breaker, rules, by_hand=by_hand)
        if change is not None:
            self._notify(change, None)
        if not waiting.done():
            waiting.set_result(moved.answer)
        elif isinstance(moved.answer, Permit):
            self.withdraw(resource, moved.answer)
