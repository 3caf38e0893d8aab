"""The settings of what may be spent: budgets, and limits per day, week and month."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from callboard.core.settings.sections import SettingsSection, restricted

# A limit of a project's only makes less possible; how a limit of the user's is counted does not.
_PLAN: Final = restricted("it decides how your own limits are counted and told")

Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def _check_zone(name: str) -> str:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError, RecursionError) as error:
        shown = name[:80]
        raise ValueError(f"{shown!r} is not a time zone; write one like Europe/Berlin") from error
    return name


ZoneName = Annotated[str, AfterValidator(_check_zone)]


class LimitSettings(SettingsSection):
    """One budget; what is left out, zero or negative is unlimited."""

    usd: float | None = Field(default=None, description="Most dollars.")
    tokens: int | None = Field(default=None, description="Most tokens, in and out together.")
    calls: int | None = Field(default=None, description="Most calls of a provider.")
    minutes: float | None = Field(default=None, description="Most minutes of model time.")


class PeriodLimitSettings(SettingsSection):
    """What one period allows; what is left out, zero or negative is unlimited."""

    max_requests: int | None = Field(default=None, description="Most requests in the period.")
    max_tokens: int | None = Field(
        default=None, description="Most tokens in the period, in and out together."
    )
    max_usd: float | None = Field(default=None, description="Most dollars in the period.")


class SubscriptionSettings(SettingsSection):
    """What a provider's plan allows by day, week and month, for all sessions together."""

    day: PeriodLimitSettings | None = Field(default=None, description="Limits of a day.")
    week: PeriodLimitSettings | None = Field(default=None, description="Limits of a week.")
    month: PeriodLimitSettings | None = Field(default=None, description="Limits of a month.")
    warn_threshold: float = Field(
        default=0.8,
        gt=0,
        le=1,
        description="Share of a limit from which everybody is warned.",
        json_schema_extra=_PLAN,
    )
    week_starts_on: Weekday = Field(
        default="monday", description="First day of the plan's week.", json_schema_extra=_PLAN
    )
    month_starts_on: int = Field(
        default=1,
        ge=1,
        le=28,
        description="First day of the plan's month.",
        json_schema_extra=_PLAN,
    )
    time_zone: ZoneName = Field(
        default="UTC",
        description="Where the day begins at midnight, like `Europe/Berlin`.",
        json_schema_extra=_PLAN,
    )


class SoftLimitSettings(SettingsSection):
    """A quota of your own for a provider: it warns and never blocks."""

    requests: int | None = Field(default=None, description="Requests in the period.")
    tokens: int | None = Field(
        default=None, description="Tokens in the period, in and out together."
    )
    period: Literal["day", "week", "month"] = Field(
        default="month",
        description="What is counted together: `day`, `week` or `month`.",
        json_schema_extra=_PLAN,
    )
    warn_at: float = Field(
        default=0.8,
        gt=0,
        le=1,
        description="Share of the quota from which everybody is warned.",
        json_schema_extra=_PLAN,
    )


class BudgetsSettings(SettingsSection):
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
        json_schema_extra=_PLAN,
    )
