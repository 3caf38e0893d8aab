"""Budgets as a user sets and reads them: limits, what is spent, reserved and left."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Final

from callboard.cli.output import echo, echo_json, echo_table, moment, remark
from callboard.cli.reading import OpenJournal, find_run
from callboard.cli.reports.models import configuration_near
from callboard.core.canonical import Json
from callboard.core.clock import SystemClock
from callboard.core.errors import InvalidInput
from callboard.models.accounts import (
    Budget,
    Dimension,
    Limits,
    Scope,
    ScopeKind,
    Subscription,
    UsageStatus,
    limits_from,
    list_budgets,
    load_budgets,
    plans_from,
    status_of,
)
from callboard.models.accounts.amounts import Amounts as Spent
from callboard.models.accounts.reservations import held_by
from callboard.operations import runtime as operations
from callboard.operations.runtime import runtime
from callboard.store.connection import Connection
from callboard.store.journal.sessions import load_session
from callboard.studio.studio import Studio

_UNITS: Final = (("--usd", 1_000_000), ("--tokens", 1), ("--calls", 1), ("--minutes", 60_000))
_LEVELS: Final = ("ok", "nearly used up", "used up")


def read_amounts(given: Mapping[str, str | None]) -> tuple[Limits, Limits]:
    """Return the limits that were typed by option: in all, and with a `+` beyond what is spent."""
    if not any(given.values()):
        raise InvalidInput(
            "No amount was given", fix="Give at least one of --usd, --tokens, --calls, --minutes."
        )
    typed = [(name, given.get(name) or "", unit) for name, unit in _UNITS]
    whole = [_amount(*each) if each[1] and not each[1].startswith("+") else None for each in typed]
    beyond = [_amount(*each) if each[1].startswith("+") else None for each in typed]
    return Limits(*whole), Limits(*beyond)


def _amount(option: str, text: str, unit: int) -> int:
    try:
        value = round(float(text.replace("_", "")) * unit)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{option} {text!r} is not an amount", fix=f"Write {option} 5 or {option} +5."
        ) from error
    # Zero is unlimited in a settings file; typed here it would hardly be meant so.
    if value == 0 and not text.startswith("+"):
        raise InvalidInput(
            f"{option} 0 would allow nothing", fix=f"Write {option} -1 for unlimited."
        )
    return value


async def set_budget(
    studio: Studio, text: str, given: Mapping[str, str | None], *, as_json: bool
) -> None:
    """Set a budget and print it."""
    limits, beyond = read_amounts(given)
    scope = studio.database.read(lambda connection: _scope(connection, text))
    budget = await runtime(studio).perform(operations.set_budget, scope, limits, beyond)
    if as_json:
        echo_json({"budget": _shape(budget, Spent(), "set")})
    else:
        _table([(budget, Spent(), "set")])


async def clear_budget(studio: Studio, text: str, *, as_json: bool) -> None:
    """Remove a budget's limits and say whether there were any."""
    scope = studio.database.read(lambda connection: _scope(connection, text))
    was_set = await runtime(studio).perform(operations.clear_budget, scope)
    if as_json:
        echo_json({"scope": str(scope), "cleared": was_set})
    else:
        echo(f"{scope} is not limited any more." if was_set else f"{scope} had no limit set.")


def budgets_report(journal: OpenJournal, *, as_json: bool) -> None:
    """List what is limited: by hand, by the settings, by providers' plans."""
    everything = configuration_near(journal.project.root).settings
    settings = everything.budgets
    defaults = limits_from(settings)
    plans = plans_from(everything)
    named = [Scope(ScopeKind.PROJECT)]
    named += [Scope(ScopeKind.AGENT, each) for each in settings.agents]
    named += [Scope(ScopeKind.PROVIDER, each) for each in settings.providers]

    def work(connection: Connection) -> list[tuple[Budget, Spent, str]]:
        by_hand = list_budgets(connection)
        taken = {budget.scope for budget in by_hand}
        others = load_budgets(connection, [each for each in named if each not in taken], defaults)
        found = [(each, "set") for each in by_hand] + [(each, "settings") for each in others]
        return [(each, held_by(connection, each.scope), origin) for each, origin in found]

    budgets = [
        (replace(budget, limits=budget.limits.over(defaults(budget.scope))), held, origin)
        for budget, held, origin in journal.read_or([], work)
    ]
    budgets = [each for each in budgets if not each[0].limits.is_unlimited]
    each_of = {
        "session": defaults(Scope(ScopeKind.SESSION, "*")),
        "run": defaults(Scope(ScopeKind.RUN, "*")),
    }
    statuses = journal.read_or([], _statuses(plans))
    if as_json:
        echo_json(
            {
                "budgets": [_shape(*each) for each in budgets],
                "each": {name: _limits(limits) for name, limits in each_of.items()},
                "plans": [asdict(status) for status in statuses],
            }
        )
        return
    _show(budgets, each_of, statuses)


def _statuses(plans: tuple[Subscription, ...]) -> Callable[[Connection], list[UsageStatus]]:
    now = SystemClock().now_ms()
    return lambda connection: [status_of(connection, plan, now) for plan in plans]


def _show(
    budgets: list[tuple[Budget, Spent, str]],
    each_of: dict[str, Limits],
    statuses: list[UsageStatus],
) -> None:
    if budgets:
        _table(budgets)
    for name, limits in each_of.items():
        told = ", ".join(dimension.told(most) for dimension, most in limits.limited())
        if told:
            echo(f"Each {name} may spend {told}.")
    if statuses:
        echo_table(
            ("PLAN", "REQUESTS", "TOKENS", "COST", "ENDS", "STATE"),
            [_status_row(status) for status in statuses],
        )
    if not budgets and not statuses and all(each.is_unlimited for each in each_of.values()):
        remark("Nothing is limited. `callboard budget set run:last --usd 1` would limit a run.")


def _status_row(status: UsageStatus) -> tuple[str, ...]:
    def used(count: int, left: int | None, dimension: Dimension) -> str:
        told = dimension.told(count)
        return told if left is None else f"{told} of {dimension.told(count + left)}"

    return (
        f"{status.provider} per {status.period}",
        used(status.requests_used, status.requests_remaining, Dimension.CALLS),
        used(status.tokens_used, status.tokens_remaining, Dimension.TOKENS),
        used(status.microusd_used, status.microusd_remaining, Dimension.MONEY),
        moment(status.ends_at),
        _LEVELS[status.level],
    )


def _table(budgets: list[tuple[Budget, Spent, str]]) -> None:
    rows: list[tuple[str, ...]] = []
    for budget, held, origin in budgets:
        for dimension, most in budget.limits.limited():
            spent, reserved = budget.spent.of(dimension), held.of(dimension)
            amounts = (most, spent, reserved, max(0, most - spent - reserved))
            told = tuple(dimension.told(amount) for amount in amounts)
            rows.append((str(budget.scope), *told, origin))
    if rows:
        echo_table(("SCOPE", "LIMIT", "SPENT", "RESERVED", "LEFT", "FROM"), rows)
    else:
        echo(f"{budgets[0][0].scope} is unlimited.")


def _shape(budget: Budget, held: Spent, origin: str) -> dict[str, Json]:
    return {
        "scope": str(budget.scope),
        "limits": _limits(budget.limits),
        "spent": asdict(budget.spent),
        "reserved": asdict(held),
        "from": origin,
    }


def _limits(limits: Limits) -> dict[str, Json]:
    return {dimension.value: most for dimension, most in limits.limited()}


def _scope(connection: Connection, text: str) -> Scope:
    """Return the scope a user means, with names and `last` replaced by ids."""
    scope = Scope.parse(text)
    if scope.kind is ScopeKind.SESSION:
        return replace(scope, id=load_session(connection, scope.id).id)
    if scope.kind is ScopeKind.RUN:
        return replace(scope, id=find_run(connection, scope.id).id)
    if scope.kind is ScopeKind.STEP:
        run, slash, key = scope.id.partition("/")
        if not key:
            raise InvalidInput(f"{text!r} names no step", fix="Write step:RUN/KEY.")
        return replace(scope, id=f"{find_run(connection, run).id}{slash}{key}")
    return scope
