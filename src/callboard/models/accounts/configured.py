"""What the settings say may be spent, in the terms of the accounts."""

from collections.abc import Mapping
from zoneinfo import ZoneInfo

from callboard.core.settings import Settings
from callboard.core.settings.budgets import (
    BudgetsSettings,
    LimitSettings,
    SoftLimitSettings,
    SubscriptionSettings,
)
from callboard.models.accounts.amounts import Limits
from callboard.models.accounts.periods import WEEKDAYS, Period, PeriodKind
from callboard.models.accounts.scopes import DefaultLimits, Scope, ScopeKind
from callboard.models.accounts.subscriptions import Subscription


def limits_from(settings: BudgetsSettings) -> DefaultLimits:
    """Return what scopes may spend by the settings, when nobody has set a limit for them."""

    def default(scope: Scope) -> Limits:
        match scope.kind:
            case ScopeKind.PROJECT:
                return _limits(settings.project)
            case ScopeKind.SESSION:
                return _limits(settings.session)
            case ScopeKind.RUN:
                return _limits(settings.run)
            case ScopeKind.AGENT:
                return _limits(settings.agents.get(scope.id))
            case ScopeKind.PROVIDER:
                return _limits(settings.providers.get(scope.id))
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


def _limits(given: LimitSettings | None) -> Limits:
    if given is None:
        return Limits()
    return Limits.make(usd=given.usd, tokens=given.tokens, calls=given.calls, minutes=given.minutes)
