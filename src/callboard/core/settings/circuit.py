"""Settings of circuit breakers: when calls to something that keeps failing are stopped."""

from typing import Any, Final

from pydantic import Field

from callboard.core.breaker import BreakerRules, breaker_rules
from callboard.core.settings.quantities import Seconds
from callboard.core.settings.sections import SettingsSection, restricted

_GUARD: Final = restricted("it keeps failing calls from being paid again and again")


def _failures(kind: str) -> Any:
    default = breaker_rules[kind].consecutive_failures
    told = "Failures in a row that open the circuit."
    return Field(default=default, ge=1, description=told, json_schema_extra=_GUARD)


def _rate(kind: str) -> Any:
    default = breaker_rules[kind].failure_rate
    told = "Share of failures among the latest results that opens the circuit."
    return Field(default=default, gt=0, le=1, description=told, json_schema_extra=_GUARD)


def _window(kind: str) -> Any:
    default = breaker_rules[kind].window_size
    told = "Latest results that are judged, once there are so many."
    return Field(default=default, ge=1, le=1000, description=told, json_schema_extra=_GUARD)


def _cooldown(kind: str) -> Any:
    default = breaker_rules[kind].cooldown_seconds
    return Field(default=default, description="Rest of an open circuit before it is probed.")


def _successes(kind: str) -> Any:
    default = breaker_rules[kind].success_threshold
    return Field(default=default, ge=1, description="Successful probes that close the circuit.")


class BreakerSettings(SettingsSection):
    """When a circuit to a model provider opens and closes; other classes differ in defaults."""

    consecutive_failures: int = _failures("llm")
    failure_rate: float = _rate("llm")
    window_size: int = _window("llm")
    cooldown_seconds: Seconds = _cooldown("llm")
    success_threshold: int = _successes("llm")
    max_probes: int = Field(
        default=breaker_rules["llm"].max_probes,
        ge=1,
        le=100,
        description="Probes that may be under way at once.",
    )
    probe_timeout_seconds: Seconds = Field(
        default=breaker_rules["llm"].probe_timeout_seconds,
        gt=0,
        description="Silence after which a probe counts as failed.",
    )

    def rules(self) -> BreakerRules:
        """Return the rules these settings describe."""
        return BreakerRules(
            self.consecutive_failures,
            self.failure_rate,
            self.window_size,
            self.cooldown_seconds,
            self.success_threshold,
            self.max_probes,
            self.probe_timeout_seconds,
        )


class FileBreakerSettings(BreakerSettings):
    """When a circuit to files opens and closes."""

    consecutive_failures: int = _failures("file")
    failure_rate: float = _rate("file")
    window_size: int = _window("file")
    cooldown_seconds: Seconds = _cooldown("file")
    success_threshold: int = _successes("file")


class NetworkBreakerSettings(BreakerSettings):
    """When a circuit to another service opens and closes."""

    consecutive_failures: int = _failures("network")
    failure_rate: float = _rate("network")
    window_size: int = _window("network")
    cooldown_seconds: Seconds = _cooldown("network")
    success_threshold: int = _successes("network")


class SubprocessBreakerSettings(BreakerSettings):
    """When a circuit to programs opens and closes."""

    consecutive_failures: int = _failures("subprocess")
    failure_rate: float = _rate("subprocess")
    window_size: int = _window("subprocess")
    cooldown_seconds: Seconds = _cooldown("subprocess")
    success_threshold: int = _successes("subprocess")


class CircuitSettings(SettingsSection):
    """Circuit breakers by class of resource."""

    notify_on_state_change: bool = Field(
        default=True,
        description="Whether it is told when a circuit opens or closes.",
        json_schema_extra=restricted("it decides what you are told"),
    )
    llm: BreakerSettings = Field(default_factory=BreakerSettings, description="Model providers.")
    file: FileBreakerSettings = Field(default_factory=FileBreakerSettings, description="Files.")
    network: NetworkBreakerSettings = Field(
        default_factory=NetworkBreakerSettings, description="Other services."
    )
    subprocess: SubprocessBreakerSettings = Field(
        default_factory=SubprocessBreakerSettings, description="Programs that are run."
    )

    def rules(self) -> dict[str, BreakerRules]:
        """Return the rules by class of resource."""
        return {
            "llm": self.llm.rules(),
            "file": self.file.rules(),
            "network": self.network.rules(),
            "subprocess": self.subprocess.rules(),
        }
