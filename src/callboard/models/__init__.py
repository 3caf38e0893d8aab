"""Models: one gate to every model, embedded, scripted or remote."""

from callboard.models.catalog import Catalog, ModelFacts, Reliability, tier_for_window
from callboard.models.credentials import KEY_VARIABLES, Credentials, Secret
from callboard.models.errors import (
    CircuitOpen,
    InvalidReply,
    MissingKey,
    PromptTooLong,
    ProviderTimeout,
    SchemaRefused,
    ScriptExhausted,
    UnknownModel,
    WeightsUnusable,
)
from callboard.models.gate import (
    DirectGate,
    Gate,
    Provider,
    Routes,
    TimeLimits,
    WrapperGate,
    drain,
)
from callboard.models.ladder import (
    LadderGate,
    ModelProfile,
    ProfileShelf,
    SchemaShape,
    Score,
    measure,
    profiles_dir,
)
from callboard.models.model_id import asked_model
from callboard.models.providers.address import ProviderConfig
from callboard.models.providers.cassette import Recorder, Replayer
from callboard.models.providers.llama import LlamaSettings
from callboard.models.providers.local import LocalProvider
from callboard.models.providers.remote import RemoteProvider
from callboard.models.providers.script import Failure, Line, Script, ScriptedCall
from callboard.models.providers.script_file import ScriptFiles, load_script
from callboard.models.providers.weights import (
    SMOLLM2,
    Weights,
    fetch_weights,
    find_weights,
    require_weights,
    weights_dir,
)
from callboard.models.telemetry import TelemetryGate
from callboard.models.types import (
    Chunk,
    Ended,
    Ending,
    Finished,
    Message,
    ModelReply,
    ModelRequest,
    ProviderChunk,
    Restarted,
    Role,
    Rung,
    TextChunk,
    Usage,
    Working,
)

__all__ = [
    "KEY_VARIABLES",
    "SMOLLM2",
    "Catalog",
    "Chunk",
    "CircuitOpen",
    "Credentials",
    "DirectGate",
    "Ended",
    "Ending",
    "Failure",
    "Finished",
    "Gate",
    "InvalidReply",
    "LadderGate",
    "Line",
    "LlamaSettings",
    "LocalProvider",
    "Message",
    "MissingKey",
    "ModelFacts",
    "ModelProfile",
    "ModelReply",
    "ModelRequest",
    "ProfileShelf",
    "PromptTooLong",
    "Provider",
    "ProviderChunk",
    "ProviderConfig",
    "ProviderTimeout",
    "Recorder",
    "Reliability",
    "RemoteProvider",
    "Replayer",
    "Restarted",
    "Role",
    "Routes",
    "Rung",
    "SchemaRefused",
    "SchemaShape",
    "Score",
    "Script",
    "ScriptExhausted",
    "ScriptFiles",
    "ScriptedCall",
    "Secret",
    "TelemetryGate",
    "TextChunk",
    "TimeLimits",
    "UnknownModel",
    "Usage",
    "Weights",
    "WeightsUnusable",
    "Working",
    "WrapperGate",
    "asked_model",
    "drain",
    "fetch_weights",
    "find_weights",
    "load_script",
    "measure",
    "profiles_dir",
    "require_weights",
    "tier_for_window",
    "weights_dir",
]
