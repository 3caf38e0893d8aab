"""Budgets: what settings and the user allow per scope, and what has been spent since the start."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from zoneinfo import ZoneInfo

from callboard.core.errors import InvalidInput
from callboard.core.settings import Settings
from callboard.core.settings.budgets import (
    BudgetsSettings,
    LimitSettings,
    SoftLimitSettings,
    SubscriptionSettings,
)
from callboard.models.accounts.amounts import Amounts, Limits
from callboard.models.accounts.calls import spent_by
from callboard.models.accounts.scopes import (
    WEEKDAYS,
    DefaultLimits,
    Period,
    PeriodKind,
    Scope,
    ScopeKind,
    Spender,
    no_limits,
)
from callboard.models.accounts.subscriptions import Subscription
from callboard.store.connection import Connection


@dataclass(frozen=True, slots=True)
class Budget:
    """What a scope may spend and what it has spent."""

    scope: Scope
    limits: Limits
    spent: Amounts


_SPENT: Final = "spent_microusd, spent_tokens, spent_calls, spent_ms"
_ADD: Final = (
    f"INSERT INTO budgets (scope, {_SPENT})"  # noqa: S608 - literals
    " VALUES (:scope, :microusd, :tokens, :calls, :ms)"
    " ON CONFLICT (scope) DO UPDATE SET"
    " spent_microusd = budgets.spent_microusd + excluded.spent_microusd,"
    " spent_tokens = budgets.spent_tokens + excluded.spent_tokens,"
    " spent_calls = budgets.spent_calls + excluded.spent_calls,"
    " spent_ms = budgets.spent_ms + excluded.spent_ms"
)
_ADD_IF_KEPT: Final = (
    "UPDATE budgets SET spent_microusd = spent_microusd + :microusd,"
    " spent_tokens = spent_tokens + :tokens, spent_calls = spent_calls + :calls,"
    " spent_ms = spent_ms + :ms WHERE scope = :scope"
)


def add_spent(connection: Connection, spender: Spender, amounts: Amounts) -> None:
    """Book what a call took on every account it goes on; steps only where a limit is kept."""
    params = {
        "microusd": amounts.microusd,
        "tokens": amounts.tokens,
        "calls": amounts.calls,
        "ms": amounts.ms,
    }
    scopes = list(spender.scopes())
    steps = [scope for scope in scopes if scope.kind is ScopeKind.STEP]
    others = [scope for scope in scopes if scope.kind is not ScopeKind.STEP]
    connection.executemany(_ADD, [{**params, "scope": str(scope)} for scope in others])
    if steps:
        connection.executemany(_ADD_IF_KEPT, [{**params, "scope": str(scope)} for scope in steps])


def load_budgets(
    connection: Connection, scopes: Iterable[Scope], defaults: DefaultLimits = no_limits
) -> list[Budget]:
    """Return the budgets of scopes in their order; one without a row has spent nothing."""
    wanted = list(scopes)
    names = {f"s{n}": str(scope) for n, scope in enumerate(wanted)}
    marks = ", ".join(f":{name}" for name in names)
    rows = {
        row["scope"]: row
        for row in connection.execute(
            f"SELECT * FROM budgets WHERE scope IN ({marks})",  # noqa: S608 - parameter names
            names,
        )
    }
    return [_budget(scope, rows.get(str(scope)), defaults) for scope in wanted]


def list_budgets(connection: Connection) -> list[Budget]:
    """Return every scope somebody has set a limit for."""
    rows = connection.execute(
        "SELECT * FROM budgets WHERE limit_microusd IS NOT NULL OR limit_tokens IS NOT NULL"
        " OR limit_calls IS NOT NULL OR limit_ms IS NOT NULL ORDER BY scope"
    )
    return [_budget(Scope.parse(row["scope"]), row, no_limits) for row in rows]


def set_limits(
    connection: Connection, scope: Scope, limits: Limits, defaults: DefaultLimits = no_limits
) -> Budget:
    """Set a scope's limits, those left out staying as they are; they must fit into the outer ones.

    What the scope spent before counts.
    """
    row = connection.execute(
        "SELECT * FROM budgets WHERE scope = :scope", {"scope": str(scope)}
    ).fetchone()
    spent = _spent(row) if row is not None else spent_by(connection, scope)
    merged = limits.over(_limits(row)) if row is not None else limits
    _check_fit(connection, scope, merged, defaults)
    _store(connection, scope, merged, spent)
    return Budget(scope, merged, spent)


def clear_limits(connection: Connection, scope: Scope) -> bool:
    """Remove a scope's limits and say whether there were any; what was spent stays on record."""
    cursor = connection.execute(
        "UPDATE budgets SET limit_microusd = NULL, limit_tokens = NULL, limit_calls = NULL,"
        " limit_ms = NULL WHERE scope = :scope AND (limit_microusd IS NOT NULL"
        " OR limit_tokens IS NOT NULL OR limit_calls IS NOT NULL OR limit_ms IS NOT NULL)",
        {"scope": str(scope)},
    )
    return cursor.rowcount == 1


def _check_fit(
    connection: Connection, scope: Scope, limits: Limits, defaults: DefaultLimits
) -> None:
    for outer in load_budgets(connection, _outer(connection, scope), defaults):
        for dimension, most in outer.limits.limited():
            wanted = limits.of(dimension)
            if wanted is not None and wanted > most:
                raise InvalidInput(
                    f"{dimension.told(wanted)} for {scope} do not fit into the"
                    f" {dimension.told(most)} of {outer.scope}",
                    fix=f"Raise the budget of {outer.scope} first, or ask for less.",
                    scope=str(scope),
                    outer=str(outer.scope),
                )


def _outer(connection: Connection, scope: Scope) -> list[Scope]:
    """Return the accounts around a scope, as far as they are fixed."""
    project = [Scope(ScopeKind.PROJECT)]
    if scope.kind is ScopeKind.SESSION:
        return project
    if scope.kind not in (ScopeKind.RUN, ScopeKind.STEP):
        return []
    run_id = scope.id.partition("/")[0]
    row = connection.execute("SELECT session_id FROM runs WHERE id = :id", {"id": run_id})
    found = row.fetchone()
    session = [Scope(ScopeKind.SESSION, found["session_id"])] if found is not None else []
    run = [Scope(ScopeKind.RUN, run_id)] if scope.kind is ScopeKind.STEP else []
    return [*project, *session, *run]


def _store(connection: Connection, scope: Scope, limits: Limits, spent: Amounts) -> None:
    connection.execute(
        "INSERT INTO budgets (scope, limit_microusd, limit_tokens, limit_calls, limit_ms,"  # noqa: S608 - literals
        f" {_SPENT}) VALUES (:scope, :limit_microusd, :limit_tokens, :limit_calls, :limit_ms,"
        " :microusd, :tokens, :calls, :ms)"
        " ON CONFLICT (scope) DO UPDATE SET limit_microusd = excluded.limit_microusd,"
        " limit_tokens = excluded.limit_tokens, limit_calls = excluded.limit_calls,"
        " limit_ms = excluded.limit_ms",
        {
            "scope": str(scope),
            "limit_microusd": limits.microusd,
            "limit_tokens": limits.tokens,
            "limit_calls": limits.calls,
            "limit_ms": limits.ms,
            "microusd": spent.microusd,
            "tokens": spent.tokens,
            "calls": spent.calls,
            "ms": spent.ms,
        },
    )


def _budget(scope: Scope, row: Any, defaults: DefaultLimits) -> Budget:
    if row is None:
        return Budget(scope, defaults(scope), Amounts())
    return Budget(scope, _limits(row).over(defaults(scope)), _spent(row))


def _limits(row: Any) -> Limits:
    return Limits(row["limit_microusd"], row["limit_tokens"], row["limit_calls"], row["limit_ms"])


def _spent(row: Any) -> Amounts:
    return Amounts(row["spent_microusd"], row["spent_tokens"], row["spent_calls"], row["spent_ms"])


def limits_from(settings: BudgetsSettings) -> DefaultLimits:
    """Return what scopes may spend by the settings, when nobody has set a limit for them."""

    def default(scope: Scope) -> Limits:
        match scope.kind:
            case ScopeKind.PROJECT:
                return _limits_of(settings.project)
            case ScopeKind.SESSION:
                return _limits_of(settings.session)
            case ScopeKind.RUN:
                return _limits_of(settings.run)
            case ScopeKind.AGENT:
                return _limits_of(settings.agents.get(scope.id))
            case ScopeKind.PROVIDER:
                return _limits_of(settings.providers.get(scope.id))
            case ScopeKind.STEP:
                return Limits()

    return default


def subscriptions_from(
    settings: Mapping[str, SubscriptionSettings],
) -> tuple[Subscription, ...]:
    """Return the limits per period that settings describe; one that limits nothing is left out."""
    found: list[Subscription] = []
    for provider, plan in settings.items():
        weekday = WEEKDAYS.index(plan.week_starts_on)
        zone = ZoneInfo(plan.time_zone)
        for kind, allowed in (
            (PeriodKind.DAY, plan.day),
            (PeriodKind.WEEK, plan.week),
            (PeriodKind.MONTH, plan.month),
        ):
            if allowed is None:
                continue
            limits = Limits.make(
                usd=allowed.max_usd, tokens=allowed.max_tokens, calls=allowed.max_requests
            )
            if not limits.is_unlimited:
                period = Period(kind, weekday, plan.month_starts_on, zone)
                found.append(Subscription(provider, period, limits, plan.warn_threshold))
    return tuple(found)


def soft_limits_from(settings: Mapping[str, SoftLimitSettings | None]) -> tuple[Subscription, ...]:
    """Return the quotas that providers' settings describe; one without a limit is left out."""
    found: list[Subscription] = []
    for provider, given in settings.items():
        if given is None:
            continue
        limits = Limits.make(tokens=given.tokens, calls=given.requests)
        if not limits.is_unlimited:
            period = Period(PeriodKind(given.period))
            found.append(Subscription(provider, period, limits, given.warn_at, is_soft=True))
    return tuple(found)


def plans_from(settings: Settings) -> tuple[Subscription, ...]:
    """Return everything the settings say about providers per period, hard and soft."""
    soft = {name: each.soft_limit for name, each in settings.models.providers.items()}
    return (*subscriptions_from(settings.budgets.subscriptions), *soft_limits_from(soft))


def _limits_of(given: LimitSettings | None) -> Limits:
    if given is None:
        return Limits()
    return Limits.make(usd=given.usd, tokens=given.tokens, calls=given.calls, minutes=given.minutes)
