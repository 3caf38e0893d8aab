"""Usage reports: the ledger added up by day, model, provider, agent, run, session, pack or step.

Reads only. The sum over any breakdown equals the total, because every call has exactly one place
in it.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

from callboard.core.errors import InvalidInput
from callboard.models.accounts.amounts import MICROUSD_PER_USD
from callboard.models.accounts.calls import CallRecord, list_calls
from callboard.store.connection import Connection

# Every time zone's midnight lies on one of these, so a slot never belongs to two days.
_SLOT_MS: Final = 15 * 60 * 1000
_COLUMNS: Final = {
    "day": f"at / {_SLOT_MS}",
    "model": "model",
    "provider": "provider",
    "agent": "agent_id",
    "run": "run_id",
    "session": "session_id",
    "pack": "pack",
    "step": "step_key",
    "outcome": "outcome",
}
BREAKDOWNS: Final = tuple(_COLUMNS)


@dataclass(frozen=True, slots=True)
class UsageFilter:
    """Which calls are looked at; what is left out does not narrow."""

    session_id: str | None = None
    run_id: str | None = None
    provider: str | None = None
    model: str | None = None
    agent_id: str | None = None
    pack: str | None = None
    since: int | None = None
    until: int | None = None
    # Sessions that are somebody else's.
    hidden: tuple[str, ...] = ()

    def where(self) -> tuple[str, dict[str, Any]]:
        """Return the SQL condition and its parameters."""
        named = ("session_id", "run_id", "provider", "model", "agent_id", "pack")
        params = {name: getattr(self, name) for name in named if getattr(self, name) is not None}
        conditions = [f"{name} = :{name}" for name in params]
        if self.since is not None:
            conditions.append("at >= :since")
            params["since"] = self.since
        if self.until is not None:
            conditions.append("at < :until")
            params["until"] = self.until
        if self.hidden:
            conditions.append(
                "(session_id IS NULL OR session_id NOT IN (SELECT value FROM json_each(:hidden)))"
            )
            params["hidden"] = json.dumps(self.hidden)
        return " AND ".join(conditions) or "1 = 1", params


@dataclass(frozen=True, slots=True)
class Totals:
    """What some calls took together; `unpriced` of them have no known price."""

    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    microusd: int = 0
    unpriced: int = 0
    latency_ms: int = 0

    def __add__(self, other: "Totals") -> "Totals":
        """Return both together."""
        return Totals(
            *(getattr(self, each.name) + getattr(other, each.name) for each in fields(self))
        )

    @property
    def usd(self) -> float:
        """The money in dollars."""
        return self.microusd / MICROUSD_PER_USD


@dataclass(frozen=True, slots=True)
class UsageLine:
    """One line of a breakdown: the names it is for, in the order asked, and what they took."""

    names: tuple[str, ...]
    totals: Totals


@dataclass(frozen=True, slots=True)
class UsageReport:
    """A breakdown with its total."""

    by: tuple[str, ...]
    total: Totals
    lines: tuple[UsageLine, ...]


@dataclass(frozen=True, slots=True)
class EstimatorLine:
    """How many tokens prompts of a model were taken to have, and how many they had."""

    model: str
    calls: int
    estimated_tokens: int
    actual_tokens: int

    @property
    def ratio(self) -> float | None:
        """Estimated over actual: above one the estimate is too high."""
        return self.estimated_tokens / self.actual_tokens if self.actual_tokens else None


_SUMS: Final = (
    "SUM(requests) AS calls, SUM(CASE WHEN outcome = 'ok' THEN 0 ELSE 1 END) AS failed,"
    " SUM(input_tokens) AS input_tokens, SUM(output_tokens) AS output_tokens,"
    " SUM(cached_tokens) AS cached_tokens, SUM(COALESCE(microusd, 0)) AS microusd,"
    " SUM(CASE WHEN microusd IS NULL THEN 1 ELSE 0 END) AS unpriced,"
    " SUM(latency_ms) AS latency_ms"
)


def usage_report(
    connection: Connection,
    by: Sequence[str],
    only: UsageFilter | None = None,
    zone: tzinfo | None = UTC,
) -> UsageReport:
    """Break usage down by one or several names.

    Days are those of a time zone; None stands for that of this machine.
    """
    unknown = [name for name in by if name not in _COLUMNS]
    if unknown:
        raise InvalidInput(
            f"Usage cannot be broken down by {unknown[0]!r}",
            fix=f"Use one of: {', '.join(BREAKDOWNS)}.",
        )
    condition, params = (only or UsageFilter()).where()
    keys = [f"{_COLUMNS[name]} AS k{n}" for n, name in enumerate(by)]
    grouping = ", ".join(_COLUMNS[name] for name in by)
    rows = connection.execute(
        f"SELECT {', '.join([*keys, _SUMS])} FROM calls WHERE {condition}"  # noqa: S608 - literals
        + (f" GROUP BY {grouping}" if by else ""),
        params,
    )
    sums: dict[tuple[str, ...], Totals] = {}
    for row in rows:
        names = tuple(_name(name, row[f"k{n}"], zone) for n, name in enumerate(by))
        sums[names] = sums.get(names, Totals()) + _totals(row)
    total = sum(sums.values(), Totals())
    return UsageReport(tuple(by), total, tuple(_ordered(by, sums) if by else ()))


def estimator_report(
    connection: Connection, only: UsageFilter | None = None
) -> tuple[EstimatorLine, ...]:
    """Judge the estimates by model, over calls whose tokens the provider told."""
    condition, params = (only or UsageFilter()).where()
    rows = connection.execute(
        "SELECT model, COUNT(*) AS calls, SUM(estimated_tokens) AS estimated,"  # noqa: S608 - literals
        f" SUM(input_tokens) AS actual FROM calls WHERE {condition}"
        " AND outcome = 'ok' AND is_estimated = 0 AND requests = 1 AND input_tokens > 0"
        " GROUP BY model ORDER BY model",
        params,
    )
    return tuple(
        EstimatorLine(row["model"], row["calls"], row["estimated"], row["actual"]) for row in rows
    )


def calls_matching(connection: Connection, only: UsageFilter) -> list[CallRecord]:
    """Return the calls themselves, oldest first."""
    condition, params = only.where()
    return list_calls(connection, condition=condition, params=params)


def _name(by: str, value: Any, zone: tzinfo | None) -> str:
    if value is None:
        return ""
    if by != "day":
        return str(value)
    return datetime.fromtimestamp(int(value) * _SLOT_MS / 1000, zone).date().isoformat()


def _totals(row: Any) -> Totals:
    return Totals(*(row[each.name] or 0 for each in fields(Totals)))


def _ordered(by: Sequence[str], sums: dict[tuple[str, ...], Totals]) -> Iterable[UsageLine]:
    """Put days in their order and everything else by what it cost, the dearest first."""

    def place(names: tuple[str, ...]) -> tuple[Any, ...]:
        totals = sums[names]
        cost = (-totals.microusd, -(totals.input_tokens + totals.output_tokens))
        days = tuple(name for kind, name in zip(by, names, strict=True) if kind == "day")
        return (*days, *cost, names)

    return [UsageLine(names, sums[names]) for names in sorted(sums, key=place)]
