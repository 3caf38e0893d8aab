"""The settings: every key with its type, default and meaning. Knows nothing of files."""

import re
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from callboard.core.canonical import Json
from callboard.core.settings.budgets import BudgetsSettings, SoftLimitSettings
from callboard.core.settings.circuit import CircuitSettings
from callboard.core.settings.errors import ErrorsSettings
from callboard.core.settings.quantities import Bytes, Seconds
from callboard.core.settings.sections import (
    ChatSettings,
    ConferenceSettings,
    ContextSettings,
    PipelineSettings,
    QueueSettings,
    SettingsSection,
    StructureSettings,
    TelemetrySettings,
    harmless,
    restricted,
)
from callboard.core.vocabulary import ModelTier

_PRICE: Final = restricted("it decides what a call counts for in your budgets")
_STAND_INS: Final = restricted("it decides who else gets your prompts")
PROFILE_PATTERN: Final = r"^[A-Za-z0-9_.-]{1,64}$"


def _check_url(url: str) -> str:
    if not re.fullmatch(r"https?://[^\s/]+\S*", url):
        raise ValueError("write an address that starts with http:// or https://")
    return url


Url = Annotated[str, AfterValidator(_check_url)]
Reliability = Literal["low", "medium", "high", "very_high"]
ModelName = Annotated[str, Field(min_length=1)]
FallbackReason = Literal[
    "circuit_open", "degrading", "transient", "rate_limit", "missing_key", "user_fixable"
]
VariableName = Annotated[str, Field(pattern=r"^[A-Z_][A-Z0-9_]{0,63}$")]


class ProviderSettings(SettingsSection):
    """How one model provider is reached."""

    base_url: Url | None = Field(
        default=None,
        description="Address of the provider; empty means the provider's own.",
        json_schema_extra=restricted("it decides where prompts and keys are sent"),
    )
    api_key_env: VariableName | None = Field(
        default=None,
        description="Name of the environment variable that holds the key; never the key itself.",
        json_schema_extra=restricted("it decides which of your keys is sent"),
    )
    enabled: bool = Field(default=True, description="Whether the provider may be asked at all.")
    aliases: dict[str, ModelName] = Field(
        default_factory=dict,
        description="Your own names for its models.",
        json_schema_extra=restricted("it decides which model answers under a name you use"),
    )
    soft_limit: SoftLimitSettings | None = Field(
        default=None, description="A quota of your own that is warned about and never blocks."
    )


class CatalogSettings(SettingsSection):
    """What is known of one model, where the bundled catalog is wrong or silent."""

    window: int | None = Field(
        default=None, gt=0, description="Tokens that fit into the model's window."
    )
    tier: ModelTier | None = Field(
        default=None, description="How much the model is given: `full`, `medium` or `minimal`."
    )
    xml_reliability: Reliability | None = Field(
        default=None,
        description="How surely it writes tags: `low`, `medium`, `high` or `very_high`.",
    )
    instruction_following: Reliability | None = Field(
        default=None, description="How surely it does as told, on the same scale."
    )
    input_usd: float | None = Field(
        default=None,
        ge=0,
        description="Dollars for a million tokens in.",
        json_schema_extra=_PRICE,
    )
    output_usd: float | None = Field(
        default=None,
        ge=0,
        description="Dollars for a million tokens out.",
        json_schema_extra=_PRICE,
    )
    cached_usd: float | None = Field(
        default=None,
        ge=0,
        description="Dollars for a million tokens in that were cached.",
        json_schema_extra=_PRICE,
    )


class ModelsSettings(SettingsSection):
    """Which models are asked, where, and how long they may take."""

    default: str = Field(
        default="local",
        min_length=1,
        description="Model asked when an agent names none: `local` or `provider:model`.",
    )
    providers: dict[str, ProviderSettings] = Field(
        default_factory=dict, description="Providers by name."
    )
    timeout_seconds: Seconds = Field(
        default=120.0,
        gt=0,
        description="Longest time a call of a remote model may take; `local` ends by silence.",
    )
    inactivity_timeout_seconds: Seconds = Field(
        default=60.0, gt=0, description="Longest silence within a streamed reply."
    )
    catalog: dict[str, CatalogSettings] = Field(
        default_factory=dict, description="Corrections to the model catalog, by model name."
    )
    fallbacks: dict[str, tuple[ModelName, ...]] = Field(
        default_factory=dict,
        description="Models asked instead, in order, by model, provider or tier of the first.",
        json_schema_extra=_STAND_INS,
    )
    fallback_default: tuple[ModelName, ...] = Field(
        default=(),
        description="Models asked instead of those `fallbacks` does not name.",
        json_schema_extra=_STAND_INS,
    )
    fallback_on: tuple[FallbackReason, ...] = Field(
        default=("circuit_open", "degrading", "transient", "rate_limit", "missing_key"),
        description="Failures that make another model answer; `user_fixable` may be added.",
        json_schema_extra=_STAND_INS,
    )

    def catalog_overrides(self) -> dict[str, dict[str, Json]]:
        """Return what is corrected, in the shape of the catalog file."""
        return {
            name: each.model_dump(mode="json", exclude_none=True)
            for name, each in self.catalog.items()
        }


def _check_store(url: str) -> str:
    if not re.fullmatch(r"postgres(ql)?://\S+", url):
        raise ValueError("write an address that starts with postgresql://")
    return url


class StoreSettings(SettingsSection):
    """Where what a project keeps lies."""

    url: Annotated[str, AfterValidator(_check_store)] | None = Field(
        default=None,
        description="Address of a Postgres database in which new projects are kept; empty means a "
        "file in each project. A project that is there stays where it is until it is copied.",
        json_schema_extra=restricted("it decides where everything a project keeps is sent"),
    )


class EngineSettings(SettingsSection):
    """How durable runs are and what happens to them at start-up."""

    durability: Literal["full", "normal"] = Field(
        default="full",
        description="`full` survives power loss; `normal` survives a crash of the process.",
        json_schema_extra=restricted("it decides what survives a power loss"),
    )
    resume_on_start: Literal["auto", "manual"] = Field(
        default="auto", description="Whether unfinished runs go on by themselves at start-up."
    )
    give_up_after_deaths: int = Field(
        default=5,
        ge=1,
        description="How often in a row a run may take its process down before it is given up.",
    )
    mirror: bool = Field(
        default=True,
        description="Whether readable run folders are written beside the journal.",
        json_schema_extra=restricted("it decides what evidence is kept"),
    )


class ToolsSettings(SettingsSection):
    """What tools may do and how much they may take."""

    timeout_seconds: Seconds = Field(
        default=120.0, gt=0, description="Longest time one tool execution may take."
    )
    max_output_bytes: Bytes = Field(
        default=10_000_000,
        ge=1,
        description="Largest output kept of one tool execution.",
        json_schema_extra=restricted("it decides how much evidence is kept"),
    )
    allowed: tuple[str, ...] | None = Field(
        default=None,
        description="Tools that may run; empty means every tool an agent's role permits.",
        json_schema_extra=restricted("it decides what may be executed"),
    )


class LogSettings(SettingsSection):
    """What is logged, and how."""

    level: Literal["debug", "info", "warn", "error"] = Field(
        default="info",
        description="Least important message that is logged.",
    )
    format: Literal["text", "json"] = Field(
        default="text",
        description="Lines for people or for machines.",
        json_schema_extra=harmless(),
    )


class Settings(SettingsSection):
    """All settings of one process."""

    profile: str = Field(
        default="default",
        pattern=PROFILE_PATTERN,
        description="Set of credentials in use.",
        json_schema_extra=restricted("it decides whose credentials are used"),
    )
    pack: str = Field(
        default="control_room",
        pattern=r"^[a-z][a-z0-9_-]{0,63}$",
        description="The pack the project is for: with whom `callboard chat` talks.",
        json_schema_extra=harmless(),
    )
    models: ModelsSettings = Field(
        default_factory=ModelsSettings, description="Models and providers."
    )
    queue: QueueSettings = Field(
        default_factory=QueueSettings, description="The queue before the models."
    )
    store: StoreSettings = Field(default_factory=StoreSettings, description="Where rows are kept.")
    engine: EngineSettings = Field(default_factory=EngineSettings, description="Durable execution.")
    errors: ErrorsSettings = Field(
        default_factory=ErrorsSettings, description="Errors and retries."
    )
    circuit: CircuitSettings = Field(
        default_factory=CircuitSettings, description="Circuit breakers."
    )
    budgets: BudgetsSettings = Field(
        default_factory=BudgetsSettings, description="What may be spent."
    )
    structure: StructureSettings = Field(
        default_factory=StructureSettings, description="Structured replies."
    )
    context: ContextSettings = Field(
        default_factory=ContextSettings, description="Conversations that outgrow a window."
    )
    conference: ConferenceSettings = Field(
        default_factory=ConferenceSettings, description="Rounds of a conference."
    )
    chat: ChatSettings = Field(default_factory=ChatSettings, description="1:1 chat.")
    tools: ToolsSettings = Field(default_factory=ToolsSettings, description="Tools.")
    pipeline: PipelineSettings = Field(default_factory=PipelineSettings, description="Recipes.")
    log: LogSettings = Field(default_factory=LogSettings, description="Logging.")
    telemetry: TelemetrySettings = Field(
        default_factory=TelemetrySettings, description="Telemetry."
    )
