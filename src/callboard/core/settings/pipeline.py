"""Settings of recipes: how long an agent may take, how many runs at once, what evidence decides."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from callboard.core.settings.quantities import Seconds
from callboard.core.settings.section import Section, restricted
from callboard.core.vocabulary import ModelTier


def _off(value: Any) -> Any:
    """Read what YAML makes of a plain `off`."""
    return "off" if value is False else value


class SummarySettings(Section):
    """How much of a tool's findings an agent is shown, by its tier."""

    minimal: int = Field(default=1_500, ge=200, description="Characters for a minimal model.")
    medium: int = Field(default=6_000, ge=200, description="Characters for a medium model.")
    full: int = Field(default=12_000, ge=200, description="Characters for a full model.")

    def limit_chars(self, tier: ModelTier) -> int:
        """Return the most characters a model of a tier is shown of one tool's findings."""
        return int(getattr(self, tier.value))


class PipelineSettings(Section):
    """How recipes are executed."""

    agent_timeout_seconds: Seconds = Field(
        default=120.0, gt=0, description="Longest time one agent's answer may take in a recipe."
    )
    max_concurrent_runs: int = Field(
        default=2,
        ge=1,
        le=1_000,
        description="Runs of recipes that execute at once in one process; others wait their turn.",
    )
    single_flight: Annotated[Literal["recipe", "off"], BeforeValidator(_off)] = Field(
        default="recipe",
        description="`recipe` refuses to start a recipe of which a run is still under way.",
        json_schema_extra=restricted("it lets two runs work on one thing"),
    )
    evidence_enforcement: Literal["halt", "warn"] = Field(
        default="halt",
        description="Whether a reply whose evidence does not verify fails its step.",
        json_schema_extra=restricted("it decides whether unproven replies are taken"),
    )
    summary_chars: SummarySettings = Field(
        default_factory=SummarySettings,
        description="How much of a tool's findings an agent is shown.",
    )
