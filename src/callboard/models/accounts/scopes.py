"""Scopes: on whose account a call goes; periods: when a day, week or month of a plan ends."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum
from typing import Any, Final

from callboard.core.errors import InvalidInput
from callboard.models.accounts.amounts import Limits
from callboard.models.catalog import provider_of
from callboard.models.types import ModelRequest


class ScopeKind(StrEnum):
    """What a budget can be set for."""

    PROJECT = "project"
    SESSION = "session"
    RUN = "run"
    STEP = "step"
    AGENT = "agent"
    PROVIDER = "provider"


@dataclass(frozen=True, slots=True)
class Scope:
    """One account. A step is named by its run and key and covers every key below it."""

    kind: ScopeKind
    id: str = ""

    def __str__(self) -> str:
        """Return the stored name."""
        return f"{self.kind.value}:{self.id}" if self.id else self.kind.value

    @classmethod
    def parse(cls, text: str) -> "Scope":
        """Read `project`, `session:ID`, `run:ID`, `step:RUN/KEY`, `agent:ID`, `provider:NAME`."""
        kind, _, name = text.partition(":")
        kind = "project" if kind == "global" else kind
        known = {each.value: each for each in ScopeKind}
        if kind not in known or bool(name) is (kind == "project"):
            raise InvalidInput(
                f"{text!r} is not something a budget can be set for",
                fix="Write project, session:ID, run:ID, step:RUN/KEY, agent:ID or provider:NAME.",
                scope=text,
            )
        return cls(known[kind], name)

    def where(self) -> tuple[str, dict[str, Any]]:
        """Return the SQL condition that picks this scope's rows of calls or reservations."""
        match self.kind:
            case ScopeKind.PROJECT:
                return "1 = 1", {}
            case ScopeKind.STEP:
                run_id, _, key = self.id.partition("/")
                below = f"{key}/"
                return (
                    "run_id = :run AND (step_key = :key OR substr(step_key, 1, :length) = :below)",
                    {"run": run_id, "key": key, "below": below, "length": len(below)},
                )
            case ScopeKind.SESSION | ScopeKind.RUN | ScopeKind.AGENT:
                return f"{self.kind.value}_id = :id", {"id": self.id}
            case ScopeKind.PROVIDER:
                return "provider = :id", {"id": self.id}


DefaultLimits = Callable[[Scope], Limits]
"""Says what a scope may spend when nobody has set a limit for it."""


def no_limits(_scope: Scope) -> Limits:
    """Limit nothing."""
    return Limits()


@dataclass(frozen=True, slots=True)
class Spender:
    """Who makes a call, with which model: the columns that calls and reservations share."""

    model: str
    provider: str
    session_id: str | None = None
    run_id: str | None = None
    step_key: str | None = None
    agent_id: str | None = None
    pack: str | None = None
    priority: int = 0
    prompt_id: str | None = None
    estimated_tokens: int = 0

    def scopes(self) -> Iterator[Scope]:
        """Go through the accounts from the outside in; the provider comes last."""
        yield Scope(ScopeKind.PROJECT)
        if self.session_id:
            yield Scope(ScopeKind.SESSION, self.session_id)
        if self.run_id:
            yield Scope(ScopeKind.RUN, self.run_id)
            yield from self._steps()
        if self.agent_id:
            yield Scope(ScopeKind.AGENT, self.agent_id)
        yield Scope(ScopeKind.PROVIDER, self.provider)

    def columns(self) -> dict[str, Any]:
        """Return the stored shape."""
        return {name: getattr(self, name) for name in SPENDER_COLUMNS}

    @classmethod
    def from_row(cls, row: Any) -> "Spender":
        """Read the stored shape."""
        return cls(**{name: row[name] for name in SPENDER_COLUMNS})

    def _steps(self) -> Iterator[Scope]:
        parts = self.step_key.split("/") if self.step_key else []
        for length in range(1, len(parts) + 1):
            yield Scope(ScopeKind.STEP, "/".join((self.run_id or "", *parts[:length])))


SPENDER_COLUMNS: Final = tuple(each.name for each in fields(Spender))


def spender_of(request: ModelRequest, estimated_tokens: int) -> Spender:
    """Return who a request is booked to."""
    pack = request.metadata.get("pack")
    return Spender(
        model=request.model,
        provider=provider_of(request.model),
        session_id=request.session_id,
        run_id=request.run_id,
        step_key=request.step_key,
        agent_id=request.agent_id,
        pack=None if pack is None else str(pack),
        priority=request.priority,
        prompt_id=request.prompt_id,
        estimated_tokens=estimated_tokens,
    )


WEEKDAYS: Final = (
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
)


class PeriodKind(StrEnum):
    """How long a period is."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class Period:
    """A kind of period with the day it begins on: a weekday from 0, Monday, or a day of month."""

    kind: PeriodKind
    first_weekday: int = 0
    first_day: int = 1
    zone: tzinfo = field(default=UTC)

    def around(self, now_ms: int) -> tuple[int, int]:
        """Return begin and end, in milliseconds, of the period a moment lies in."""
        today = datetime.fromtimestamp(now_ms / 1000, self.zone).date()
        start = self._start(today)
        return self._midnight(start), self._midnight(self._next(start))

    def _start(self, today: date) -> date:
        match self.kind:
            case PeriodKind.DAY:
                return today
            case PeriodKind.WEEK:
                return today - timedelta(days=(today.weekday() - self.first_weekday) % 7)
            case PeriodKind.MONTH:
                if today.day >= self.first_day:
                    return today.replace(day=self.first_day)
                last_month = today.replace(day=1) - timedelta(days=1)
                return last_month.replace(day=self.first_day)

    def _next(self, start: date) -> date:
        match self.kind:
            case PeriodKind.DAY:
                return start + timedelta(days=1)
            case PeriodKind.WEEK:
                return start + timedelta(days=7)
            case PeriodKind.MONTH:
                return (start.replace(day=1) + timedelta(days=32)).replace(day=self.first_day)

    def _midnight(self, day: date) -> int:
        return int(datetime.combine(day, time(), self.zone).timestamp() * 1000)
