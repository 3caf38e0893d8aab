"""Loop: steps that a Showrunner may take in any sensible order, within bounds that code holds."""

from callboard.choreography.loop.choosing import decide_next_loop, play_chain, suggest_loop
from callboard.choreography.loop.decisions import (
    BlockDecision,
    CollabDecision,
    LoopDecision,
    StabilityVerdict,
    StepDecision,
)
from callboard.choreography.loop.definition import (
    Loop,
    LoopInvalid,
    LoopStep,
    Need,
    RaciRole,
    Stability,
    UnknownLoopStep,
)
from callboard.choreography.loop.driver import LoopDriver
from callboard.choreography.loop.house import (
    BringLoops,
    LoopHouse,
    LoopSettings,
    MissingLoopInput,
    ScopeViolation,
)
from callboard.choreography.loop.ports import (
    ArtifactDraft,
    CodeOutcome,
    LoopCast,
    LoopChecks,
    LoopRequest,
    LoopRole,
    LoopWish,
    LoopWorkspace,
    Misfit,
    OpenedUnit,
    PromptMode,
    StepView,
    StoredArtifact,
)
from callboard.choreography.loop.prompting import PromptNotFound, missing_prompts
from callboard.choreography.loop.reading import read_loop
from callboard.choreography.loop.records import NamedCast, NamedChecks, RecordWorkspace
from callboard.choreography.loop.registry import (
    LoopRegistry,
    UnknownLoop,
    extend_registry,
    installed_folders,
    load_loops,
)
from callboard.choreography.loop.result import LoopResult, LoopStatus
from callboard.choreography.loop.revisions import RevisionRequest
from callboard.choreography.loop.shelf import (
    LoopChoreography,
    LoopFailed,
    LoopShelf,
    play_loop,
    read_request,
)
from callboard.choreography.loop.standalone import AloneReply, ask_alone
from callboard.choreography.loop.unit import require_entries

__all__ = [
    "AloneReply",
    "ArtifactDraft",
    "BlockDecision",
    "BringLoops",
    "CodeOutcome",
    "CollabDecision",
    "Loop",
    "LoopCast",
    "LoopChecks",
    "LoopChoreography",
    "LoopDecision",
    "LoopDriver",
    "LoopFailed",
    "LoopHouse",
    "LoopInvalid",
    "LoopRegistry",
    "LoopRequest",
    "LoopResult",
    "LoopRole",
    "LoopSettings",
    "LoopShelf",
    "LoopStatus",
    "LoopStep",
    "LoopWish",
    "LoopWorkspace",
    "Misfit",
    "MissingLoopInput",
    "NamedCast",
    "NamedChecks",
    "Need",
    "OpenedUnit",
    "PromptMode",
    "PromptNotFound",
    "RaciRole",
    "RecordWorkspace",
    "RevisionRequest",
    "ScopeViolation",
    "Stability",
    "StabilityVerdict",
    "StepDecision",
    "StepView",
    "StoredArtifact",
    "UnknownLoop",
    "UnknownLoopStep",
    "ask_alone",
    "decide_next_loop",
    "extend_registry",
    "installed_folders",
    "load_loops",
    "missing_prompts",
    "play_chain",
    "play_loop",
    "read_loop",
    "read_request",
    "require_entries",
    "suggest_loop",
]
