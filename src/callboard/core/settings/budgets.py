"""The settings of what may be spent: budgets, and limits per day, week and month."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from callboard.core.settings.section import Section

Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def _check_zone(name: str) -> str:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{name!r} is not a time zone; write one like Europe/Berlin") from error
    return name


ZoneName = Annotated[str, AfterValidator(_check_zone)]


class LimitSettings(Section):
    """One budget; what is left out, zero or negative is unlimited."""

    usd: float | None = Field(default=None, description="Most dollars.")
    tokens: int | None = Field(default=None, description="Most tokens, in and out together.")
    calls: int | None = Field(default=None, description="Most calls of a provider.")
    minutes: float | None = Field(default=None, description="Most minutes of model time.")


class PeriodLimitSettings(Section):
    """What one period allows; what is left out, zero or negative is unlimited."""

    max_requests: int | None = Field(default=None, description="Most requests in the period.")
    max_tokens: int | None = Field(
        default=None, description="Most tokens in the period, in and out together."
    )
    max_usd: float | None = Field(default=None, description="Most dollars in the period.")


class SubscriptionSettings(Section):
    """What a provider's plan allows by day, week and month, for all sessions together."""

    day: PeriodLimitSettings | None = Field(default=None, description="Limits of a day.")
    week: PeriodLimitSettings | None = Field(default=None, description="Limits of a week.")
    month: PeriodLimitSettings | None = Field(default=None, description="Limits of a month.")
    warn_threshold: float = Field(
        default=0.8, gt=0, le=1, description="Share of a limit from which everybody is warned."
    )
    week_starts_on: Weekday = Field(default="monday", description="First day of the plan's week.")
    month_starts_on: int = Field(
        default=1, ge=1, le=28, description="First day of the plan's month."
    )
    time_zone: ZoneName = Field(
        default="UTC", description="Where the day begins at midnight, like `Europe/Berlin`."
    )


class SoftLimitSettings(Section):
    """A quota of your own for a provider: it warns and never blocks."""

    requests: int | None = Field(default=None, description="Requests in the period.")
    tokens: int | None = Field(
        default=None, description="Tokens in the period, in and out together."
    )
    period: Literal["day", "week", "month"] = Field(
        default="month", description="What is counted together: `day`, `week` or `month`."
    )
    warn_at: float = Field(
        default=0.8, gt=0, le=1, description="Share of the quota from which everybody is warned."
    )


class BudgetsSettings(Section):
    """What may be spent unless `callboard budget set` says otherwise."""

    project: LimitSettings = Field(
        default_factory=LimitSettings, description="Everything in this project together."
    )
    session: LimitSettings = Field(default_factory=LimitSettings, description="Each session.")
    run: LimitSettings = Field(default_factory=LimitSettings, description="Each run.")
    agents: dict[str, LimitSettings] = Field(
        default_factory=dict, description="Single agents, by id."
    )
    providers: dict[str, LimitSettings] = Field(
        default_factory=dict, description="Single providers, by name."
    )
    subscriptions: dict[str, SubscriptionSettings] = Field(
        default_factory=dict, description="Limits per day, week and month, by provider."
    )
    fair_share: bool = Field(
        default=True,
        description="Whether sessions without a budget of their own share a plan's rest evenly.",
    )
