"""Settings of circuit breakers: when calls to something that keeps failing are stopped."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, cast

from pydantic import BeforeValidator, Field

from callboard.core.settings.quantities import Seconds
from callboard.core.settings.sections import SettingsSection, restricted

_GUARD: Final = restricted("it keeps failing calls from being paid again and again")


class BreakerRules(SettingsSection):
    """When a circuit opens, how long it rests, and what closes it again.

    `failure_rate` is judged only once there are `window_size` results. A probe not heard of for
    `probe_timeout_seconds` has failed.
    """

    consecutive_failures: int = Field(
        default=5,
        ge=1,
        description="Failures in a row that open the circuit.",
        json_schema_extra=_GUARD,
    )
    failure_rate: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="Share of failures among the latest results that opens the circuit.",
        json_schema_extra=_GUARD,
    )
    window_size: int = Field(
        default=20,
        ge=1,
        le=1000,
        description="Latest results that are judged, once there are so many.",
        json_schema_extra=_GUARD,
    )
    cooldown_seconds: Seconds = Field(
        default=30.0, description="Rest of an open circuit before it is probed."
    )
    success_threshold: int = Field(
        default=3, ge=1, description="Successful probes that close the circuit."
    )
    max_probes: int = Field(
        default=1, ge=1, le=100, description="Probes that may be under way at once."
    )
    probe_timeout_seconds: Seconds = Field(
        default=180.0, gt=0, description="Silence after which a probe counts as failed."
    )

    @property
    def cooldown_ms(self) -> int:
        """How long an open circuit rests."""
        return round(self.cooldown_seconds * 1000)

    @property
    def probe_timeout_ms(self) -> int:
        """How long a probe may stay silent."""
        return round(self.probe_timeout_seconds * 1000)


def _rules(
    failures: int, rate: float, window: int, cooldown: float, successes: int
) -> BreakerRules:
    return BreakerRules(
        consecutive_failures=failures,
        failure_rate=rate,
        window_size=window,
        cooldown_seconds=cooldown,
        success_threshold=successes,
    )


GENERIC_RULES: Final = BreakerRules()
breaker_rules: Final[Mapping[str, BreakerRules]] = {
    "llm": _rules(5, 0.5, 20, 30.0, 3),
    "file": _rules(2, 0.3, 10, 10.0, 2),
    "network": _rules(3, 0.5, 20, 30.0, 3),
    "subprocess": _rules(3, 0.4, 15, 20.0, 2),
}
"""Rules by class of resource, as they are without settings."""


def filled(default: SettingsSection) -> Callable[[Any], Any]:
    """Return what completes a section that says only a part by the defaults of its own place."""

    def fill(given: Any) -> Any:
        told = cast("dict[str, Any]", given)
        return {**default.model_dump(), **told} if isinstance(given, dict) else given

    return fill


class CircuitSettings(SettingsSection):
    """Circuit breakers by class of resource."""

    notify_on_state_change: bool = Field(
        default=True,
        description="Whether it is told when a circuit opens or closes.",
        json_schema_extra=restricted("it decides what you are told"),
    )
    llm: Annotated[BreakerRules, BeforeValidator(filled(breaker_rules["llm"]))] = Field(
        default=breaker_rules["llm"], description="Model providers."
    )
    file: Annotated[BreakerRules, BeforeValidator(filled(breaker_rules["file"]))] = Field(
        default=breaker_rules["file"], description="Files."
    )
    network: Annotated[BreakerRules, BeforeValidator(filled(breaker_rules["network"]))] = Field(
        default=breaker_rules["network"], description="Other services."
    )
    subprocess: Annotated[BreakerRules, BeforeValidator(filled(breaker_rules["subprocess"]))] = (
        Field(default=breaker_rules["subprocess"], description="Programs that are run.")
    )

    def rules(self) -> dict[str, BreakerRules]:
        """Return the rules by class of resource."""
        return {
            "llm": self.llm,
            "file": self.file,
            "network": self.network,
            "subprocess": self.subprocess,
        }
