"""Reservations: what a call may take, held back on all its accounts in one transaction.

A reservation is granted when what was spent, what others hold and what is asked for fit under
every ceiling; so the sum of spent and held never exceeds a limit, however many ask at once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from callboard.models.accounts.amounts import Amounts, Dimension, Limits
from callboard.models.accounts.budgets import Budget, load_budgets
from callboard.models.accounts.scopes import (
    SPENDER_COLUMNS,
    DefaultLimits,
    Scope,
    ScopeKind,
    Spender,
)
from callboard.models.accounts.subscriptions import (
    Subscription,
    count_active,
    ends_text,
    share_of,
    status_of,
)
from callboard.store.connection import Connection

# Less time than this is as good as none: no model answers in it.
LEAST_MS: Final = 50


@dataclass(frozen=True, slots=True)
class Hold:
    """A reservation as it is asked for, and as it is granted: time may be granted in part."""

    id: str
    process_id: str
    at: int
    spender: Spender
    amounts: Amounts


@dataclass(frozen=True, slots=True)
class Ceiling:
    """One limit that a call has to fit under, with what was spent so far."""

    name: str
    scope: Scope
    limits: Limits
    spent: Amounts
    plan: Subscription | None = None
    ends_at: int | None = None
    ends: str | None = None
    provider: str = ""
    """Set if only calls of one provider count."""


@dataclass(frozen=True, slots=True)
class BudgetRefusal:
    """Why a call does not fit; it is final unless others give back what they hold."""

    ceiling: Ceiling
    dimension: Dimension
    limit: int
    spent: int
    reserved: int
    wanted: int

    @property
    def is_final(self) -> bool:
        """Whether it would not fit even if nobody else held anything."""
        return self.spent + self.wanted > self.limit


def ceilings_of(
    connection: Connection,
    spender: Spender,
    defaults: DefaultLimits,
    subscriptions: Iterable[Subscription],
    now_ms: int,
    *,
    is_shared: bool = True,
) -> list[Ceiling]:
    """Return the limits a call meets, from the outside in: plan, project, session, run, ...

    With `is_shared` a session without a budget of its own gets a fair share of each plan.
    """
    provider = Scope(ScopeKind.PROVIDER, spender.provider)
    plans = [each for each in subscriptions if each.provider == spender.provider]
    plans = [each for each in plans if not each.is_soft]
    found: list[Ceiling] = []
    for plan in plans:
        status = status_of(connection, plan, now_ms)
        name = f"{provider} per {plan.name}"
        ends = ends_text(plan.period, status.ends_at)
        found.append(Ceiling(name, provider, plan.limits, status.used, plan, status.ends_at, ends))
    for budget in load_budgets(connection, spender.scopes(), defaults):
        if not budget.limits.is_unlimited:
            found.append(Ceiling(str(budget.scope), budget.scope, budget.limits, budget.spent))
        elif is_shared and plans and _has_no_say(budget):
            found += _shares(connection, budget.scope, plans, now_ms)
    return found


def _has_no_say(budget: Budget) -> bool:
    """Say whether it is a session nobody has given a budget, not even an unlimited one."""
    return budget.scope.kind is ScopeKind.SESSION and budget.limits == Limits()


def _shares(
    connection: Connection, session: Scope, plans: Sequence[Subscription], now_ms: int
) -> list[Ceiling]:
    """Return the fair shares of a session; one that works alone needs none."""
    active = count_active(connection, session.id)
    if active == 1:
        return []
    shares: list[Ceiling] = []
    for plan in plans:
        limits, used = share_of(connection, plan, now_ms, session.id, active)
        ends_at = plan.period.around(now_ms)[1]
        shares.append(
            Ceiling(
                f"{session}, its fair share of provider:{plan.provider} per {plan.name},",
                session,
                limits,
                used,
                ends_at=ends_at,
                ends=ends_text(plan.period, ends_at),
                provider=plan.provider,
            )
        )
    return shares


def is_limited(
    connection: Connection,
    spender: Spender,
    defaults: DefaultLimits,
    subscriptions: Iterable[Subscription],
) -> bool:
    """Say whether a call meets any limit at all: quicker to find out than which ones."""
    if any(each.provider == spender.provider and not each.is_soft for each in subscriptions):
        return True
    scopes = list(spender.scopes())
    if not all(defaults(scope).is_unlimited for scope in scopes):
        return True
    marks = ", ".join("?" * len(scopes))
    found = connection.execute(
        f"SELECT 1 FROM budgets WHERE scope IN ({marks}) AND (limit_microusd IS NOT NULL"  # noqa: S608 - question marks
        " OR limit_tokens IS NOT NULL OR limit_calls IS NOT NULL OR limit_ms IS NOT NULL) LIMIT 1",
        [str(scope) for scope in scopes],
    )
    return found.fetchone() is not None


def reserve(
    connection: Connection, hold: Hold, ceilings: Sequence[Ceiling]
) -> Hold | BudgetRefusal:
    """Hold back what a call may take, or say what keeps it from that."""
    amounts, refusal = _fit(connection, hold.amounts, ceilings)
    if refusal is not None:
        return refusal
    granted = replace(hold, amounts=amounts)
    _insert(connection, granted)
    return granted


def extend(
    connection: Connection, hold_id: str, more: Amounts, ceilings: Sequence[Ceiling]
) -> BudgetRefusal | None:
    """Hold back more for a call that is under way, or say what keeps it from that."""
    _, refusal = _fit(connection, more, ceilings)
    if refusal is None:
        connection.execute(
            "UPDATE reservations SET microusd = microusd + :microusd, tokens = tokens + :tokens,"
            " calls = calls + :calls, ms = ms + :ms WHERE id = :id",
            {"id": hold_id, **_params(more)},
        )
    return refusal


def shrink(connection: Connection, hold_id: str, booked: Amounts) -> None:
    """Give back what has been booked as spent; what is held never falls below nothing."""
    columns = ", ".join(
        f"{name} = CASE WHEN {name} > :{name} THEN {name} - :{name} ELSE 0 END"
        for name in _params(booked)
    )
    connection.execute(
        f"UPDATE reservations SET booked = booked + 1, {columns} WHERE id = :id",  # noqa: S608 - column names
        {"id": hold_id, **_params(booked)},
    )


def close(connection: Connection, hold_id: str) -> int | None:
    """Give everything back; return how many calls were booked, or None if it was closed before."""
    row = connection.execute(
        "SELECT booked FROM reservations WHERE id = :id", {"id": hold_id}
    ).fetchone()
    if row is None:
        return None
    connection.execute("DELETE FROM reservations WHERE id = :id", {"id": hold_id})
    return int(row["booked"])


def is_open(connection: Connection, hold_id: str) -> bool:
    """Say whether a reservation still holds something back."""
    found = connection.execute("SELECT 1 FROM reservations WHERE id = :id", {"id": hold_id})
    return found.fetchone() is not None


def list_holds(connection: Connection) -> list[Hold]:
    """Return all open reservations, oldest first."""
    return [_hold(row) for row in connection.execute("SELECT * FROM reservations ORDER BY id")]


def held_by(connection: Connection, scope: Scope, provider: str = "") -> Amounts:
    """Add up what is held back on an account, for all providers or for one."""
    condition, params = scope.where()
    row = connection.execute(
        "SELECT COALESCE(SUM(microusd), 0) AS microusd, COALESCE(SUM(tokens), 0) AS tokens,"  # noqa: S608 - a literal condition
        " COALESCE(SUM(calls), 0) AS calls, COALESCE(SUM(ms), 0) AS ms"
        f" FROM reservations WHERE {condition} AND (:only = '' OR provider = :only)",
        {**params, "only": provider},
    ).fetchone()
    return Amounts(row["microusd"], row["tokens"], row["calls"], row["ms"])


def _fit(
    connection: Connection, wanted: Amounts, ceilings: Sequence[Ceiling]
) -> tuple[Amounts, BudgetRefusal | None]:
    """Return what can be granted, or the refusal that nobody can wait out, or the first one."""
    first: BudgetRefusal | None = None
    for ceiling in ceilings:
        held = held_by(connection, ceiling.scope, ceiling.provider)
        for dimension, limit in ceiling.limits.limited():
            spent, reserved = ceiling.spent.of(dimension), held.of(dimension)
            asked = wanted.of(dimension)
            if dimension is Dimension.TIME and asked:
                asked = min(asked, max(LEAST_MS, limit - spent - reserved))
                wanted = replace(wanted, ms=asked)
            if spent + reserved + asked <= limit:
                continue
            refusal = BudgetRefusal(ceiling, dimension, limit, spent, reserved, asked)
            if refusal.is_final:
                return wanted, refusal
            first = first or refusal
    return wanted, first


def _params(amounts: Amounts) -> dict[str, int]:
    return {
        "microusd": amounts.microusd,
        "tokens": amounts.tokens,
        "calls": amounts.calls,
        "ms": amounts.ms,
    }


_COLUMNS: Final = (
    "id", "process_id", "at", *SPENDER_COLUMNS, "microusd", "tokens", "calls", "ms", "booked"
)  # fmt: skip
_INSERT: Final = (
    f"INSERT INTO reservations ({', '.join(_COLUMNS)})"  # noqa: S608 - literals
    f" VALUES ({', '.join(f':{name}' for name in _COLUMNS)})"
)


def _insert(connection: Connection, hold: Hold) -> None:
    connection.execute(
        _INSERT,
        {
            "id": hold.id,
            "process_id": hold.process_id,
            "at": hold.at,
            **hold.spender.columns(),
            **_params(hold.amounts),
            "booked": 0,
        },
    )


def _hold(row: Any) -> Hold:
    amounts = Amounts(row["microusd"], row["tokens"], row["calls"], row["ms"])
    return Hold(row["id"], row["process_id"], row["at"], Spender.from_row(row), amounts)
