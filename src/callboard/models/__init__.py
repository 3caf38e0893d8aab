"""Models: one gate to every model, embedded, scripted or remote."""

from callboard.models.catalog import Catalog, ModelFacts, Reliability, tier_for_window
from callboard.models.errors import (
    InvalidReply,
    MissingKey,
    PromptTooLong,
    ProviderTimeout,
    ScriptExhausted,
    UnknownModel,
    WeightsUnusable,
)
from callboard.models.gate import DirectGate, Gate, Provider, TimeLimits, WrapperGate, drain
from callboard.models.profile import Profile, probe
from callboard.models.providers.llama import LlamaSettings
from callboard.models.providers.local import LocalProvider
from callboard.models.providers.remote import KEY_VARIABLES, ProviderConfig, RemoteProvider
from callboard.models.providers.script import Call, Failure, Line, Script
from callboard.models.providers.script_file import ScriptFiles, load_script
from callboard.models.providers.weights import (
    SMOLLM2,
    Weights,
    fetch_weights,
    find_weights,
    require_weights,
    weights_dir,
)
from callboard.models.types import (
    Chunk,
    Ended,
    Finished,
    Message,
    ModelReply,
    ModelRequest,
    ProviderChunk,
    Restarted,
    Role,
    TextChunk,
    Usage,
    Working,
)

__all__ = [
    "KEY_VARIABLES",
    "SMOLLM2",
    "Call",
    "Catalog",
    "Chunk",
    "DirectGate",
    "Ended",
    "Failure",
    "Finished",
    "Gate",
    "InvalidReply",
    "Line",
    "LlamaSettings",
    "LocalProvider",
    "Message",
    "MissingKey",
    "ModelFacts",
    "ModelReply",
    "ModelRequest",
    "Profile",
    "PromptTooLong",
    "Provider",
    "ProviderChunk",
    "ProviderConfig",
    "ProviderTimeout",
    "Reliability",
    "RemoteProvider",
    "Restarted",
    "Role",
    "Script",
    "ScriptExhausted",
    "ScriptFiles",
    "TextChunk",
    "TimeLimits",
    "UnknownModel",
    "Usage",
    "Weights",
    "WeightsUnusable",
    "Working",
    "WrapperGate",
    "drain",
    "fetch_weights",
    "find_weights",
    "load_script",
    "probe",
    "require_weights",
    "tier_for_window",
    "weights_dir",
]
