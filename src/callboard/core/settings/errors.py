"""Settings of errors: how they are sorted into tiers, tried again and told."""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from callboard.core.classify import Classifier
from callboard.core.errors import (
    NO_RETRY,
    ErrorTier,
    RetryPolicy,
    TransientTracker,
    retry_policies,
)
from callboard.core.patterns import pattern_problem
from callboard.core.settings.quantities import Seconds
from callboard.core.settings.sections import SettingsSection, restricted

_KNOWN: Final = Classifier()
_SORTING: Final = restricted("it decides what is tried again, which you pay for")
_TELLING: Final = restricted("it decides what you are told")


def _check_pattern(pattern: str) -> str:
    problem = pattern_problem(pattern)
    if problem is not None:
        raise ValueError(problem)
    return pattern


Pattern = Annotated[str, AfterValidator(_check_pattern)]
Status = Annotated[int, Field(ge=100, le=599)]


class TransientSettings(SettingsSection):
    """When passing faults are frequent enough to be told."""

    frequency_count: int = Field(
        default=3,
        ge=1,
        description="Passing faults within the window that are told to the user.",
        json_schema_extra=_TELLING,
    )
    frequency_window_seconds: Seconds = Field(
        default=10.0,
        gt=0,
        description="Length of the window in which faults are counted.",
        json_schema_extra=_TELLING,
    )
    notification_cooldown_seconds: Seconds = Field(
        default=60.0,
        description="Silence after the user has been told.",
        json_schema_extra=_TELLING,
    )


def _attempts(tier: ErrorTier) -> Any:
    return Field(
        default=retry_policies[tier].max_attempts,
        ge=1,
        le=100,
        description="Attempts, the first call included.",
        json_schema_extra=restricted("every attempt may be a call you pay for"),
    )


def _first_wait(tier: ErrorTier) -> Any:
    default = retry_policies[tier].initial_delay_seconds
    return Field(default=default, description="Wait after the first failure.")


def _longest_wait(tier: ErrorTier) -> Any:
    default = retry_policies[tier].max_delay_seconds
    return Field(default=default, description="Longest wait between two attempts.")


class RetrySettings(SettingsSection):
    """How a passing fault is retried; the other retried tiers differ in their defaults."""

    max_attempts: int = _attempts(ErrorTier.TRANSIENT)
    initial_delay_seconds: Seconds = _first_wait(ErrorTier.TRANSIENT)
    max_delay_seconds: Seconds = _longest_wait(ErrorTier.TRANSIENT)
    multiplier: float = Field(default=2.0, ge=1, le=100, description="Growth of the wait.")

    def policy(self, *, use_retry_after: bool = False) -> RetryPolicy:
        """Return the policy these settings describe."""
        return RetryPolicy(
            self.max_attempts,
            self.initial_delay_seconds,
            self.max_delay_seconds,
            self.multiplier,
            use_retry_after,
        )


class RateLimitRetrySettings(RetrySettings):
    """How a rate limit is waited out."""

    max_attempts: int = _attempts(ErrorTier.EXTERNAL_RATE_LIMIT)
    initial_delay_seconds: Seconds = _first_wait(ErrorTier.EXTERNAL_RATE_LIMIT)
    max_delay_seconds: Seconds = _longest_wait(ErrorTier.EXTERNAL_RATE_LIMIT)
    use_retry_after: bool = Field(
        default=True, description="Whether the provider's Retry-After replaces the wait."
    )


class DegradingRetrySettings(RetrySettings):
    """How a provider in trouble is tried again."""

    max_attempts: int = _attempts(ErrorTier.EXTERNAL_DEGRADING)
    initial_delay_seconds: Seconds = _first_wait(ErrorTier.EXTERNAL_DEGRADING)
    max_delay_seconds: Seconds = _longest_wait(ErrorTier.EXTERNAL_DEGRADING)


class RetriesSettings(SettingsSection):
    """Retries by tier; permanent and user-fixable errors are never retried."""

    transient: RetrySettings = Field(default_factory=RetrySettings, description="Passing faults.")
    external_rate_limit: RateLimitRetrySettings = Field(
        default_factory=RateLimitRetrySettings, description="Rate limits."
    )
    external_degrading: DegradingRetrySettings = Field(
        default_factory=DegradingRetrySettings, description="Providers in trouble."
    )


class ErrorsSettings(SettingsSection):
    """How errors are sorted into tiers, retried and told."""

    transient_patterns: tuple[Pattern, ...] = Field(
        default=_KNOWN.transient_patterns,
        description="Words of passing faults.",
        json_schema_extra=_SORTING,
    )
    permanent_patterns: tuple[Pattern, ...] = Field(
        default=_KNOWN.permanent_patterns,
        description="Words of errors that no retry mends.",
        json_schema_extra=_SORTING,
    )
    user_fixable_patterns: tuple[Pattern, ...] = Field(
        default=_KNOWN.user_fixable_patterns,
        description="Words of errors the user can mend.",
        json_schema_extra=_SORTING,
    )
    rate_limit_statuses: tuple[Status, ...] = Field(
        default=_KNOWN.rate_limit_statuses,
        description="HTTP statuses that ask to wait.",
        json_schema_extra=_SORTING,
    )
    degrading_statuses: tuple[Status, ...] = Field(
        default=_KNOWN.degrading_statuses,
        description="HTTP statuses of a provider in trouble.",
        json_schema_extra=_SORTING,
    )
    transient: TransientSettings = Field(
        default_factory=TransientSettings, description="When passing faults are told."
    )
    retry: RetriesSettings = Field(
        default_factory=RetriesSettings, description="How often and how long to retry."
    )
    when_stuck: Literal["fail", "ask"] = Field(
        default="fail",
        description="What a step does when no model can be reached: `fail`, or `ask` what to do.",
    )

    def classifier(self) -> Classifier:
        """Return the classifier these settings describe."""
        return Classifier(
            self.transient_patterns,
            self.permanent_patterns,
            self.user_fixable_patterns,
            self.rate_limit_statuses,
            self.degrading_statuses,
        )

    def tracker(self) -> TransientTracker:
        """Return a new tracker with these thresholds."""
        return TransientTracker(
            self.transient.frequency_count,
            self.transient.frequency_window_seconds,
            self.transient.notification_cooldown_seconds,
        )

    def policies(self) -> dict[ErrorTier, RetryPolicy]:
        """Return the retry policy of every tier."""
        limited = self.retry.external_rate_limit
        return {
            ErrorTier.TRANSIENT: self.retry.transient.policy(),
            ErrorTier.PERMANENT: NO_RETRY,
            ErrorTier.USER_FIXABLE: NO_RETRY,
            ErrorTier.EXTERNAL_RATE_LIMIT: limited.policy(use_retry_after=limited.use_retry_after),
            ErrorTier.EXTERNAL_DEGRADING: self.retry.external_degrading.policy(),
        }
