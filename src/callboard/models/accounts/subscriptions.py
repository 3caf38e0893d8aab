"""What a provider's plan allows per day, week or month, and a session's fair share of it.

Usage is counted in one table that every process shares; who crosses a level tells everybody, once.

Holds for sessions nobody has given a budget of their own. A session that works alone may use
everything a plan has left.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from callboard.core.events import QuotaWarning
from callboard.models.accounts.amounts import Amounts, Dimension, Limits
from callboard.models.accounts.calls import spent_by
from callboard.models.accounts.scopes import Period, Scope, ScopeKind
from callboard.store.connection import Connection

OK: Final = 0
WARNING: Final = 1
CRITICAL: Final = 2
_ALL: Final = ""
_NOUNS: Final = {Dimension.CALLS: "requests", Dimension.TOKENS: "tokens", Dimension.MONEY: "money"}


@dataclass(frozen=True, slots=True)
class Subscription:
    """One limit of a plan. From `warn_threshold` of it everybody is warned, at it blocked.

    One that `is_soft` only warns, again when it is reached.
    """

    provider: str
    period: Period
    limits: Limits
    warn_threshold: float = 0.8
    is_soft: bool = False

    @property
    def name(self) -> str:
        """What the period is called, where it is counted and where it is shown."""
        kind = self.period.kind.value
        return f"{kind} (soft)" if self.is_soft else kind

    def level_of(self, used: Amounts) -> int:
        """Return 0 while all is well, 1 near a limit, 2 at it."""
        shares = [used.of(dimension) / most for dimension, most in self.limits.limited()]
        worst = max(shares, default=0.0)
        if worst >= 1:
            return CRITICAL
        return WARNING if worst >= self.warn_threshold else OK


@dataclass(frozen=True, slots=True)
class UsageStatus:
    """Where a provider stands in a period; what is unlimited has no remainder."""

    provider: str
    period: str
    requests_used: int
    tokens_used: int
    microusd_used: int
    requests_remaining: int | None
    tokens_remaining: int | None
    microusd_remaining: int | None
    level: int
    starts_at: int
    ends_at: int

    @property
    def used(self) -> Amounts:
        """What has been used, in the dimensions of budgets."""
        return Amounts(self.microusd_used, self.tokens_used, self.requests_used)


def status_of(
    connection: Connection, plan: Subscription, now_ms: int, session_id: str = _ALL
) -> UsageStatus:
    """Return where a provider stands, or one session's part of it."""
    start, end = plan.period.around(now_ms)
    row = _row(connection, plan, start, session_id)
    if row is not None:
        used, level = _used(row), int(row["level"])
    else:
        used, level = _counted(connection, plan, start, session_id), OK
    left = {dimension: max(0, most - used.of(dimension)) for dimension, most in _limited(plan)}
    return UsageStatus(
        provider=plan.provider,
        period=plan.name,
        requests_used=used.calls,
        tokens_used=used.tokens,
        microusd_used=used.microusd,
        requests_remaining=left.get(Dimension.CALLS),
        tokens_remaining=left.get(Dimension.TOKENS),
        microusd_remaining=left.get(Dimension.MONEY),
        level=max(level, plan.level_of(used)) if session_id == _ALL else OK,
        starts_at=start,
        ends_at=end,
    )


def record_usage(
    connection: Connection,
    plan: Subscription,
    now_ms: int,
    session_id: str | None,
    amounts: Amounts,
) -> QuotaWarning | None:
    """Count a call; return the warning due if this call is the one that crosses a level."""
    before = _opened(connection, plan, now_ms, _ALL)
    _add(connection, before, amounts)
    if session_id:
        _add(connection, _opened(connection, plan, now_ms, session_id), amounts)
    used = before.used + amounts
    return _raise_level(connection, before, plan.level_of(used), used)


def note_block(connection: Connection, plan: Subscription, now_ms: int) -> QuotaWarning | None:
    """Note that a call was refused; return the warning due if it is the first one."""
    row = _opened(connection, plan, now_ms, _ALL)
    return _raise_level(connection, row, CRITICAL, row.used)


def fair_share(remaining: int | None, active_sessions: int) -> int | None:
    """Return a session's part of what is left; an unlimited ceiling is shared without limit."""
    return None if remaining is None else max(0, remaining) // max(1, active_sessions)


def fair_limits(statuses: Iterable[UsageStatus], active_sessions: int) -> Limits:
    """Return the limits a session gets that nobody has given any: the tightest fair share."""
    shares: dict[str, int] = {}
    for status in statuses:
        for name, left in (
            ("calls", status.requests_remaining),
            ("tokens", status.tokens_remaining),
            ("microusd", status.microusd_remaining),
        ):
            share = fair_share(left, active_sessions)
            if share is not None:
                shares[name] = min(share, shares.get(name, share))
    return Limits(shares.get("microusd"), shares.get("tokens"), shares.get("calls"))


@dataclass(frozen=True, slots=True)
class _Open:
    """A row of usage as it stands before a change."""

    plan: Subscription
    start: int
    end: int
    session_id: str
    used: Amounts
    level: int

    def key(self) -> dict[str, Any]:
        return {
            "provider": self.plan.provider,
            "period": self.plan.name,
            "start": self.start,
            "session": self.session_id,
        }


_WHERE: Final = (
    " WHERE provider = :provider AND period = :period AND period_start = :start"
    " AND session_id = :session"
)


def _opened(connection: Connection, plan: Subscription, now_ms: int, session_id: str) -> _Open:
    """Return the row of the current period, made from the calls on record if it is new."""
    start, end = plan.period.around(now_ms)
    row = _row(connection, plan, start, session_id)
    if row is not None:
        return _Open(plan, start, end, session_id, _used(row), int(row["level"]))
    used = _counted(connection, plan, start, session_id)
    opened = _Open(plan, start, end, session_id, used, OK)
    connection.execute(
        "INSERT INTO subscription_usage (provider, period, period_start, session_id, period_end,"
        " requests_used, tokens_used, microusd_used, level)"
        " VALUES (:provider, :period, :start, :session, :end, :calls, :tokens, :microusd, 0)",
        {
            **opened.key(),
            "end": end,
            "calls": used.calls,
            "tokens": used.tokens,
            "microusd": used.microusd,
        },
    )
    return opened


def _add(connection: Connection, row: _Open, amounts: Amounts) -> None:
    connection.execute(
        "UPDATE subscription_usage SET requests_used = requests_used + :calls,"  # noqa: S608 - literals
        " tokens_used = tokens_used + :tokens, microusd_used = microusd_used + :microusd" + _WHERE,
        {
            **row.key(),
            "calls": amounts.calls,
            "tokens": amounts.tokens,
            "microusd": amounts.microusd,
        },
    )


def _raise_level(
    connection: Connection, row: _Open, level: int, used: Amounts
) -> QuotaWarning | None:
    """Store a higher level and return its warning; the row's old level tells who is first."""
    if level <= row.level:
        return None
    connection.execute(
        "UPDATE subscription_usage SET level = :level" + _WHERE,  # noqa: S608 - literals
        {**row.key(), "level": level},
    )
    percents = {
        dimension: 100 * used.of(dimension) // most for dimension, most in _limited(row.plan)
    }
    return QuotaWarning(
        provider=row.plan.provider,
        period=row.plan.name,
        level=level,
        text=_told(row, level, percents),
        ends_at=row.end,
        requests_percent=percents.get(Dimension.CALLS),
        tokens_percent=percents.get(Dimension.TOKENS),
        usd_percent=percents.get(Dimension.MONEY),
    )


def _told(row: _Open, level: int, percents: Mapping[Dimension, int]) -> str:
    shares = ", ".join(f"{share} % of the {_NOUNS[each]}" for each, share in percents.items())
    ends = ends_text(row.plan.period, row.end)
    plan = f"{row.plan.provider}'s {row.plan.period.kind.value}"
    if row.plan.is_soft:
        return f"Approaching your own quota for {plan}: {shares}. It ends {ends}; calls go on."
    if level == CRITICAL:
        return f"{plan} is used up ({shares}); its calls wait until {ends}."
    return f"{plan} is nearly used up: {shares}. It ends {ends}."


def ends_text(period: Period, end_ms: int) -> str:
    """Return when a period ends, in its own time zone."""
    return datetime.fromtimestamp(end_ms / 1000, period.zone).strftime("%Y-%m-%d %H:%M %Z")


def _limited(plan: Subscription) -> list[tuple[Dimension, int]]:
    return list(plan.limits.limited())


def _row(connection: Connection, plan: Subscription, start: int, session_id: str) -> Any:
    return connection.execute(
        "SELECT * FROM subscription_usage" + _WHERE,  # noqa: S608 - literals
        {
            "provider": plan.provider,
            "period": plan.name,
            "start": start,
            "session": session_id,
        },
    ).fetchone()


def _used(row: Any) -> Amounts:
    return Amounts(row["microusd_used"], row["tokens_used"], row["requests_used"])


def _counted(connection: Connection, plan: Subscription, start: int, session_id: str) -> Amounts:
    """Add up what was called before anybody set a limit; the limit holds for it as well."""
    counted = spent_by(connection, Scope(ScopeKind.PROVIDER, plan.provider), start, session_id)
    return Amounts(counted.microusd, counted.tokens, counted.calls)


def count_active(connection: Connection, session_id: str) -> int:
    """Return how many sessions are at work: those with a run under way, and the one that asks."""
    row = connection.execute(
        "SELECT COUNT(DISTINCT session_id) AS others FROM runs"
        " WHERE state IN ('pending', 'running') AND session_id <> :session",
        {"session": session_id},
    ).fetchone()
    return int(row["others"]) + 1


def share_of(
    connection: Connection, plan: Subscription, now_ms: int, session_id: str, active: int
) -> tuple[Limits, Amounts]:
    """Return what a session may use of a plan in this period in all, and what it has used."""
    left = fair_limits([status_of(connection, plan, now_ms)], active)
    used = status_of(connection, plan, now_ms, session_id).used
    return Limits(*(_in_all(left, used, dimension) for dimension in Dimension)), used


def _in_all(left: Limits, used: Amounts, dimension: Dimension) -> int | None:
    share: int | None = getattr(left, dimension.value)
    # A share of nothing must not turn into no limit.
    return None if share is None else max(1, share + used.of(dimension))
