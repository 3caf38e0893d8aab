"""Settings of errors: the tier of each, how often a call is tried again, what is told."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field

from callboard.core.errors import ErrorTier, TransientTracker
from callboard.core.patterns import pattern_problem
from callboard.core.settings.circuit import filled
from callboard.core.settings.quantities import Seconds
from callboard.core.settings.sections import SettingsSection, restricted

_DEFAULT_TRANSIENT: Final = (
    r"time[d ]*\s?out",
    r"connection reset",
    r"temporar(y|ily)",
    r"name resolution",
    r"name or service not known",
    r"peer closed connection",
    r"server disconnected",
    r"overloaded",
    r"broken pipe",
    r"network is unreachable",
)
_DEFAULT_PERMANENT: Final = (
    r"no such file",
    r"not found",
    r"invalid (config|value|json)",
    r"parse error",
    r"schema",
    r"validation error",
)
_DEFAULT_USER_FIXABLE: Final = (
    r"api[ _-]?key",
    r"credential",
    r"unauthori[sz]ed",
    r"forbidden",
    r"permission denied",
    r"quota",
    r"\bHTTP 40[123]\b",
)
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


class RetryPolicy(SettingsSection):
    """How often and how long to wait; `max_attempts` counts the first call."""

    max_attempts: int = Field(
        default=5,
        ge=1,
        le=100,
        description="Attempts, the first call included.",
        json_schema_extra=restricted("every attempt may be a call you pay for"),
    )
    initial_delay_seconds: Seconds = Field(default=0.1, description="Wait after the first failure.")
    max_delay_seconds: Seconds = Field(
        default=5.0, description="Longest wait between two attempts."
    )
    multiplier: float = Field(default=2.0, ge=1, le=100, description="Growth of the wait.")

    @classmethod
    def make(cls, attempts: int, first_seconds: float, most_seconds: float) -> Self:
        """Return a policy of so many attempts, with waits that grow from the first to the most."""
        return cls(
            max_attempts=attempts,
            initial_delay_seconds=first_seconds,
            max_delay_seconds=most_seconds,
        )

    def delay_seconds(self, attempt: int, retry_after_seconds: float | None = None) -> float:
        """Return the wait after failed attempt `attempt` (1-based), before jitter."""
        del retry_after_seconds
        exponent = min(attempt - 1, 64)
        return min(self.max_delay_seconds, self.initial_delay_seconds * self.multiplier**exponent)


class RateLimitPolicy(RetryPolicy):
    """How a rate limit is waited out."""

    use_retry_after: bool = Field(
        default=True, description="Whether the provider's Retry-After replaces the wait."
    )

    def delay_seconds(self, attempt: int, retry_after_seconds: float | None = None) -> float:
        """Return the wait the provider asked for, if that counts."""
        if self.use_retry_after and retry_after_seconds is not None:
            return max(0.0, retry_after_seconds)
        return super().delay_seconds(attempt)


NO_RETRY: Final = RetryPolicy.make(1, 0.0, 0.0)
PASSING: Final = RetryPolicy()
RATE_LIMITED: Final = RateLimitPolicy.make(10, 1.0, 60.0)
DEGRADING: Final = RetryPolicy.make(3, 5.0, 30.0)


class RetriesSettings(SettingsSection):
    """Retries by tier; permanent and user-fixable errors are never retried."""

    transient: Annotated[RetryPolicy, BeforeValidator(filled(PASSING))] = Field(
        default=PASSING, description="Passing faults."
    )
    external_rate_limit: Annotated[RateLimitPolicy, BeforeValidator(filled(RATE_LIMITED))] = Field(
        default=RATE_LIMITED, description="Rate limits."
    )
    external_degrading: Annotated[RetryPolicy, BeforeValidator(filled(DEGRADING))] = Field(
        default=DEGRADING, description="Providers in trouble."
    )

    def policies(self) -> dict[ErrorTier, RetryPolicy]:
        """Return the retry policy of every tier."""
        return {
            ErrorTier.TRANSIENT: self.transient,
            ErrorTier.PERMANENT: NO_RETRY,
            ErrorTier.USER_FIXABLE: NO_RETRY,
            ErrorTier.EXTERNAL_RATE_LIMIT: self.external_rate_limit,
            ErrorTier.EXTERNAL_DEGRADING: self.external_degrading,
        }


retry_policies: Final[Mapping[ErrorTier, RetryPolicy]] = RetriesSettings().policies()
"""The policies as they are without settings."""


class SortingRules(SettingsSection):
    """Which words and statuses of an error mean which tier."""

    transient_patterns: tuple[Pattern, ...] = Field(
        default=_DEFAULT_TRANSIENT,
        description="Words of passing faults.",
        json_schema_extra=_SORTING,
    )
    permanent_patterns: tuple[Pattern, ...] = Field(
        default=_DEFAULT_PERMANENT,
        description="Words of errors that no retry mends.",
        json_schema_extra=_SORTING,
    )
    user_fixable_patterns: tuple[Pattern, ...] = Field(
        default=_DEFAULT_USER_FIXABLE,
        description="Words of errors the user can mend.",
        json_schema_extra=_SORTING,
    )
    rate_limit_statuses: tuple[Status, ...] = Field(
        default=(429,),
        description="HTTP statuses that ask to wait.",
        json_schema_extra=_SORTING,
    )
    degrading_statuses: tuple[Status, ...] = Field(
        default=(500, 502, 503, 504),
        description="HTTP statuses of a provider in trouble.",
        json_schema_extra=_SORTING,
    )


class ErrorsSettings(SortingRules):
    """How errors are sorted into tiers, retried and told."""

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

    def tracker(self) -> TransientTracker:
        """Return a new tracker with these thresholds."""
        return TransientTracker(
            self.transient.frequency_count,
            self.transient.frequency_window_seconds,
            self.transient.notification_cooldown_seconds,
        )
