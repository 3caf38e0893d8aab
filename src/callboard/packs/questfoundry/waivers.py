"""Waivers: a human's word that one red finding may pass, kept until it ends or is taken back.

Only a user gives one, by an operation; no model does, and no report a model writes brings one in.
What would spoil the story or break the book for its readers cannot be waived.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from callboard.core.clock import Clock
from callboard.core.codec import Coded
from callboard.core.errors import Conflict, NotFound
from callboard.packs.questfoundry.units.ledger import count_up, day_of
from callboard.packs.questfoundry.verdict import (
    NEVER_WAIVED,
    WHOLE,
    Bar,
    BarStatus,
    BarVerdict,
    BarWaiver,
    GatecheckReport,
    GateRefused,
    waived,
)
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.records import Records

_WAIVER: Final = "waiver"


def waive(report: GatecheckReport, waiver: BarWaiver, *, today: date) -> GatecheckReport:
    """Let a red finding pass under a human's name; refused where no name is enough."""
    stands = report.bar(waiver.bar)
    if stands.status is not BarStatus.RED:
        raise GateRefused(
            f"{waiver.bar.value} is {stands.status.value}, not red",
            fix="Waive only what blocks.",
        )
    for name in ("rationale", "scope", "human"):
        if not str(getattr(waiver, name)).strip():
            raise GateRefused(
                f"A waiver of {waiver.bar.value} without {name}",
                fix="Give a rationale, a scope, an expiry, and who signs.",
            )
    if waiver.expires <= today:
        raise GateRefused(
            f"The waiver of {waiver.bar.value} ended on {waiver.expires.isoformat()}",
            fix="Give a later day, or mend the bar.",
        )
    _refuse_uncovered(stands, waiver)
    return waived(report, [*report.waivers, waiver])


def _refuse_uncovered(stands: BarVerdict, waiver: BarWaiver) -> None:
    reds = [each for each in stands.findings if each.status is BarStatus.RED]
    here = [each for each in reds if each.place == waiver.scope]
    never = sorted({each.check for each in here if each.check in NEVER_WAIVED})
    if never and waiver.check in ("", *never):
        raise GateRefused(
            f"{waiver.bar.value} cannot be waived at {waiver.scope}: {', '.join(never)}",
            fix="Mend it; spoilers and dead links are never let through.",
        )
    if not reds and waiver.scope == WHOLE:
        return
    if not any(waiver.covers(waiver.bar, each) for each in here):
        red = ", ".join(f"{each.place} ({each.check})" for each in reds[:10]) or WHOLE
        raise GateRefused(
            f"Nothing at {waiver.scope!r} makes {waiver.bar.value} red",
            fix=f"Red are: {red}.",
        )


@dataclass(frozen=True)
class KeptWaiver(Coded):
    """A waiver on record; one that was taken back stays, with why."""

    id: str
    bar: str
    scope: str
    rationale: str
    expires: str
    by: str
    created_at: int
    check: str = ""
    tu_id: str = ""
    withdrawn: str = ""

    def stands(self, today: date) -> str:
        """Say until when it stands, or that it does no more."""
        if self.withdrawn:
            return "taken back"
        is_over = date.fromisoformat(self.expires) <= today
        return f"{'ended' if is_over else 'until'} {self.expires}"

    def given(self) -> BarWaiver:
        """Return it as a gatecheck takes it."""
        ends = date.fromisoformat(self.expires)
        return BarWaiver(
            Bar(self.bar), self.rationale, self.scope, ends, self.by, self.check, self.id
        )


class WaiverLedger:
    """The waivers of one project."""

    def __init__(self, database: Database, records: Records, clock: Clock) -> None:
        """Take where they are kept."""
        self._database = database
        self._records = records
        self._clock = clock

    @property
    def today(self) -> date:
        """What day it is."""
        return day_of(self._clock).date()

    def all(self) -> list[KeptWaiver]:
        """Return every waiver, oldest first."""
        return [KeptWaiver.from_json(each) for each in self._records.all(_WAIVER).values()]

    def standing(self) -> list[BarWaiver]:
        """Return the waivers that hold today."""
        held = [each.given() for each in self.all() if not each.withdrawn]
        return [each for each in held if each.expires > self.today]

    def grant(
        self, connection: Connection, report: GatecheckReport, wanted: BarWaiver, tu_id: str
    ) -> KeptWaiver:
        """Keep a waiver of something red in a report; refused where it may not be given."""
        waive(report, wanted, today=self.today)
        number = count_up(self._records, connection, _WAIVER)
        kept = KeptWaiver(
            id=f"W-{number}",
            bar=wanted.bar.value,
            scope=wanted.scope,
            rationale=wanted.rationale,
            expires=wanted.expires.isoformat(),
            by=wanted.human,
            created_at=self._clock.now_ms(),
            check=wanted.check,
            tu_id=tu_id,
        )
        self._records.store(connection, _WAIVER, kept.id, kept.to_json())
        return kept

    async def withdraw(self, waiver_id: str, reason: str) -> KeptWaiver:
        """Take a waiver back: later gatechecks know it no more."""

        def act(connection: Connection) -> KeptWaiver:
            body = self._records.load(connection, _WAIVER, waiver_id)
            if body is None:
                raise NotFound(
                    f"There is no waiver {waiver_id!r}", fix="`callboard quest waivers list`."
                )
            held = KeptWaiver.from_json(body)
            if held.withdrawn:
                told = f"{waiver_id} was taken back already: {held.withdrawn}"
                raise Conflict(told, fix="`callboard quest waivers list` shows what stands.")
            kept = replace(held, withdrawn=reason)
            self._records.store(connection, _WAIVER, kept.id, kept.to_json())
            return kept

        return await self._database.write(act)


def rows_of(waivers: Sequence[BarWaiver]) -> list[dict[str, Any]]:
    """Return waivers as a report names them."""
    return [
        {
            "bar": each.bar.value,
            "check": each.check,
            "scope": each.scope,
            "rationale": each.rationale,
            "expiry": each.expires.isoformat(),
            "by": each.human,
            "waiver_id": each.id,
        }
        for each in waivers
    ]
