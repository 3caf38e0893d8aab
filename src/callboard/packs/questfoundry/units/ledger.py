"""The ledger of units: opens them under numbers of the day, keeps them, and finds the open ones."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from callboard.core.clock import Clock
from callboard.core.errors import NotFound
from callboard.core.vocabulary import RunState
from callboard.packs.questfoundry.units.unit import UnitStatus, WorkUnit
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.journal.runs import find_run
from callboard.store.records import Records

_UNIT: Final = "unit"
# Units that are not over, so that a year of finished ones is not read to find them.
_OPEN: Final = "unit_open"
_OF_RUN: Final = "unit_of_run"
_COUNTER: Final = "counter"


def count_up(records: Records, connection: Connection, name: str, start: int = 1) -> int:
    """Return the next number under a name; the first is `start`."""
    body = records.load(connection, _COUNTER, name)
    number = start if body is None else int(body["last"]) + 1
    records.store(connection, _COUNTER, name, {"last": number})
    return number


def day_of(clock: Clock) -> datetime:
    """Return what day it is, the same for everybody."""
    return datetime.fromtimestamp(clock.now_ms() / 1000, UTC)


@dataclass(frozen=True, slots=True)
class UnitOpening:
    """What a unit is opened with."""

    run_id: str
    loop: str
    lead: str
    title: str
    brief: str = ""
    responsible: tuple[str, ...] = ()
    awake: tuple[str, ...] = ()
    upstream: tuple[str, ...] = ()
    inputs: dict[str, str] = field(default_factory=dict[str, str])


class UnitLedger:
    """The units of one project."""

    def __init__(self, database: Database, records: Records, clock: Clock) -> None:
        """Take where they are kept."""
        self._database = database
        self._records = records
        self._clock = clock

    def find(self, unit_id: str) -> WorkUnit:
        """Return a unit; one that does not exist is told."""
        return self._database.read(lambda connection: self.load(connection, unit_id))

    def load(self, connection: Connection, unit_id: str) -> WorkUnit:
        """Return a unit within a unit of work of the database."""
        body = self._records.load(connection, _UNIT, unit_id)
        if body is None:
            raise NotFound(
                f"There is no unit {unit_id!r}", fix="`callboard quest tu list` shows them."
            )
        return _with_end(connection, WorkUnit.from_json(body))

    def save(self, connection: Connection, unit: WorkUnit) -> WorkUnit:
        """Keep a unit as it is now."""
        self._records.store(connection, _UNIT, unit.id, unit.to_json())
        if unit.is_over:
            self._records.remove(connection, _OPEN, unit.id)
        else:
            self._records.store(connection, _OPEN, unit.id, {})
        return unit

    def all(self) -> list[WorkUnit]:
        """Return every unit, oldest first."""

        def act(connection: Connection) -> list[WorkUnit]:
            found = self._records.load_all(connection, _UNIT).values()
            return [_with_end(connection, WorkUnit.from_json(each)) for each in found]

        return self._database.read(act)

    def open_ones(self, connection: Connection) -> list[WorkUnit]:
        """Return the units that are not over."""
        ids = self._records.load_all(connection, _OPEN)
        return [self.load(connection, each) for each in ids]

    def ready_ones(self) -> list[WorkUnit]:
        """Return the units that wait for a gatecheck; what somebody put off does not."""
        found = self._database.read(self.open_ones)
        return [
            each
            for each in found
            if each.ready_for_gate
            and each.loop != "gatecheck"
            and each.status is not UnitStatus.DEFERRED
        ]

    def of_run(self, run_id: str) -> str | None:
        """Return the unit a run works on."""
        body = self._records.get(_OF_RUN, run_id)
        return None if body is None else str(body["unit"])

    async def open(self, opening: UnitOpening) -> WorkUnit:
        """Open a unit for a run; asked again for the same run, return the one it has."""
        return await self._database.write(lambda connection: self.add(connection, opening))

    def add(self, connection: Connection, opening: UnitOpening) -> WorkUnit:
        """Open a unit within a unit of work of the database, so that it is whole or not there."""
        known = self._records.load(connection, _OF_RUN, opening.run_id)
        if known is not None:
            return self.load(connection, str(known["unit"]))
        day = day_of(self._clock)
        number = count_up(self._records, connection, f"TU-{day:%Y-%m-%d}")
        unit = WorkUnit(
            id=f"TU-{day:%Y-%m-%d}-{opening.lead}{number:02d}",
            loop=opening.loop,
            title=opening.title,
            opened_at=self._clock.now_ms(),
            brief=opening.brief,
            responsible=opening.responsible,
            awake=opening.awake,
            upstream=opening.upstream,
            inputs=dict(opening.inputs),
            runs=(opening.run_id,),
        ).moved(UnitStatus.STABILIZING)
        self._records.store(connection, _OF_RUN, opening.run_id, {"unit": unit.id})
        return self.save(connection, unit)

    async def take_up(self, unit_id: str, run_id: str, awake: tuple[str, ...]) -> WorkUnit:
        """Let another run go on with a unit; one that is over is refused."""

        def act(connection: Connection) -> WorkUnit:
            unit = self.load(connection, unit_id)
            if unit.status is not UnitStatus.STABILIZING:
                unit = unit.moved(UnitStatus.STABILIZING)
            self._records.store(connection, _OF_RUN, run_id, {"unit": unit.id})
            runs = unit.runs if run_id in unit.runs else (*unit.runs, run_id)
            everybody = tuple(dict.fromkeys((*unit.awake, *awake)))
            return self.save(
                connection, replace(unit, runs=runs, awake=everybody, outcome="", error=None)
            )

        return await self._database.write(act)

    async def change(self, unit_id: str, work: Callable[[WorkUnit], WorkUnit]) -> WorkUnit:
        """Change a unit with nobody between reading and writing."""
        return await self._database.write(
            lambda connection: self.save(connection, work(self.load(connection, unit_id)))
        )

    def shapes(self) -> list[dict[str, Any]]:
        """Return every unit as doors show it."""
        return [each.shape() for each in self.all()]


def _with_end(connection: Connection, unit: WorkUnit) -> WorkUnit:
    """Return a unit with the end of its last run, where nobody was left to write that down."""
    if unit.outcome or unit.is_over or not unit.runs:
        return unit
    # A loop of a chain is named after its run.
    run = find_run(connection, unit.runs[-1].partition("/")[0])
    is_cancelled = run is not None and run.state is RunState.CANCELLED
    return replace(unit, outcome="cancelled") if is_cancelled else unit
