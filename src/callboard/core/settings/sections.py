"""The smaller groups of settings, and what every group is made of: a frozen, closed model.

Conferences and chat, context fitting, recipes, the queue, structured replies, telemetry.
"""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from callboard.core.settings.quantities import Bytes, Seconds
from callboard.core.vocabulary import ModelTier

RESTRICTED: Final = "x-restricted"
"""Marks a key that a project's own file, which arrives with a clone, may not set by itself."""

HARMLESS: Final = "x-harmless"
"""Marks a key that a project's own file may set even before the user has trusted the project."""


def restricted(reason: str) -> dict[str, Any]:
    """Return the mark for a key that a clone may not set, with why it is there."""
    return {RESTRICTED: reason}


def harmless() -> dict[str, Any]:
    """Return the mark for a key that does no harm, whoever set it and to whatever value."""
    return {HARMLESS: True}


class SettingsSection(BaseModel):
    """A group of keys; frozen, and closed to keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ConferenceSettings(SettingsSection):
    """How the rounds of a conference are held."""

    max_tool_steps: int = Field(
        default=6,
        ge=1,
        le=100,
        description="Replies the Chief may give while it gathers evidence; then it must stop.",
        json_schema_extra=restricted("every reply is a call you pay for"),
    )
    max_tool_bytes_per_step: Bytes = Field(
        default=12_000, ge=200, description="Most that is shown of one tool's findings."
    )
    max_tool_bytes_per_round: Bytes = Field(
        default=48_000, ge=200, description="Most that is shown of all findings of a round."
    )
    max_parallel: int = Field(
        default=4, ge=1, le=1_000, description="Agents of a round that are asked at once."
    )
    agent_timeout_seconds: Seconds = Field(
        default=120.0, gt=0, description="Longest time one agent's answer may take in a round."
    )


class ChatSettings(SettingsSection):
    """How one agent answers in a 1:1 chat."""

    max_tool_steps: int = Field(
        default=6,
        ge=1,
        le=100,
        description="Replies an agent may give while it uses tools; then it must answer.",
        json_schema_extra=restricted("every reply is a call you pay for"),
    )
    max_tool_bytes_per_step: Bytes = Field(
        default=8_000, ge=200, description="Most that is shown of one tool's findings."
    )
    max_tool_bytes_per_message: Bytes = Field(
        default=16_000, ge=200, description="Most that is shown of all findings for one message."
    )
    agent_timeout_seconds: Seconds = Field(
        default=120.0, gt=0, description="Longest time one answer may take."
    )
    max_exchanges: int = Field(
        default=40, ge=0, description="Latest exchanges an agent is reminded of."
    )


class ContextSettings(SettingsSection):
    """How a conversation is fitted into a model's window."""

    reserve_tokens: int = Field(
        default=4096, ge=0, description="Tokens of the window kept free for the reply."
    )
    keep_last_turns: int = Field(
        default=4, ge=0, description="Latest turns that a selection must always hold."
    )
    min_relevance_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Share of what is relevant that a selection must hold; else it is summarised.",
    )
    summarise: bool = Field(
        default=True,
        description="Whether the model asked sums up what a selection would lose.",
    )
    recent_share: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="Share of the room that the latest turns get beside a summary.",
    )
    summary_share: float = Field(
        default=0.25, gt=0, le=1, description="Share of the room that a summary may take."
    )

    def limit_tokens(self, window_tokens: int) -> int:
        """Return the most a prompt may hold: the window without the reserve for the reply."""
        return max(0, window_tokens - self.reserve_tokens)


def _off(value: Any) -> Any:
    """Read what YAML makes of a plain `off`."""
    return "off" if value is False else value


class SummarySettings(SettingsSection):
    """How much of a tool's findings an agent is shown, by its tier."""

    minimal: int = Field(default=1_500, ge=200, description="Characters for a minimal model.")
    medium: int = Field(default=6_000, ge=200, description="Characters for a medium model.")
    full: int = Field(default=12_000, ge=200, description="Characters for a full model.")

    def limit_chars(self, tier: ModelTier) -> int:
        """Return the most characters a model of a tier is shown of one tool's findings."""
        return int(getattr(self, tier.value))


class PageSettings(SettingsSection):
    """How much of the project an agent is shown beside what its task gives it, by its tier."""

    minimal: int = Field(default=300, ge=0, description="Tokens for a minimal model.")
    medium: int = Field(default=3_000, ge=0, description="Tokens for a medium model.")
    full: int = Field(default=12_000, ge=0, description="Tokens for a full model.")

    def limit_tokens(self, tier: ModelTier) -> int:
        """Return the most tokens of pages a model of a tier is shown."""
        return int(getattr(self, tier.value))


class PipelineSettings(SettingsSection):
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
    page_tokens: PageSettings = Field(
        default_factory=PageSettings,
        description="How much of the project's own pages an agent is shown, in recipes and chats.",
        json_schema_extra=restricted("every token shown is one you pay for"),
    )


Slots = Annotated[int, Field(ge=1, le=10_000)]

# The embedded model answers two at a time; more would wait inside it, where nobody goes first.
_BUILT_IN: Final = {"local": 2}


class QueueSettings(SettingsSection):
    """How many model calls one process has under way at once."""

    global_limit: Slots = Field(default=64, description="Calls under way at once, in all.")
    provider_limit: Slots = Field(
        default=20, description="Calls under way at once to one provider."
    )
    provider_limits: dict[str, Slots] = Field(
        default_factory=dict, description="The same for single providers, by name."
    )
    session_limit: Slots = Field(
        default=10,
        description="Calls under way at once for one session; never holds the user's own back.",
    )
    user_preemption: bool = Field(
        default=True,
        description="Whether a call that can wait is interrupted when the user needs its slot.",
    )
    max_preemptions: int = Field(
        default=3, ge=0, description="How often one call may be interrupted for the user."
    )

    def limits_by_provider(self) -> dict[str, int]:
        """Return the limits of single providers, the embedded model's own among them."""
        return {**_BUILT_IN, **self.provider_limits}

    def of_provider(self, provider: str) -> int:
        """Return how many calls one provider may have under way."""
        return self.provider_limits.get(provider, self.provider_limit)

    def retuned(self, **changes: Any) -> Self:
        """Return the limits with what is given, and is not None, replaced."""
        given = {name: value for name, value in changes.items() if value is not None}
        return self.model_validate({**self.model_dump(), **given})


class StructureSettings(SettingsSection):
    """How structured replies are got from models that do not give them at once."""

    max_questions: int = Field(
        default=24,
        ge=1,
        le=200,
        description="Most small questions asked in place of one reply that never became valid.",
        json_schema_extra=restricted("every question is a call you pay for"),
    )
    trial_tries: int = Field(
        default=3,
        ge=1,
        le=100,
        description="Tries per shape of schema when `callboard models test` measures a model.",
        json_schema_extra=restricted("every try is a call you pay for"),
    )


class TelemetrySettings(SettingsSection):
    """What is told to an OpenTelemetry collector."""

    enabled: bool | None = Field(
        default=None,
        description="Whether spans are exported; empty means: if OTEL_EXPORTER_OTLP_ENDPOINT or "
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set.",
        json_schema_extra=restricted("it decides what leaves this machine"),
    )
    content: bool = Field(
        default=False,
        description="Whether spans hold prompts, replies, tool arguments and results.",
        json_schema_extra=restricted("it decides what leaves this machine"),
    )
