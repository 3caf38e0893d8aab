"""Loop: steps that a Showrunner may take in any sensible order, within bounds that code holds."""

from callboard.choreography.loop.definition import (
    Loop,
    LoopInvalid,
    LoopStep,
    Need,
    RaciRole,
    Stability,
    UnknownLoopStep,
)
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
    LoopWorkspace,
    Misfit,
    OpenedUnit,
    PromptMode,
    StepView,
    StoredArtifact,
)
from callboard.choreography.loop.prompting import PromptNotFound, missing_prompts
from callboard.choreography.loop.reading import read_loop
from callboard.choreography.loop.registry import LoopRegistry, UnknownLoop, load_loops
from callboard.choreography.loop.result import LoopResult, LoopStatus
from callboard.choreography.loop.shelf import LoopChoreography, LoopFailed, LoopShelf, play_loop

__all__ = [
    "ArtifactDraft",
    "BringLoops",
    "CodeOutcome",
    "Loop",
    "LoopCast",
    "LoopChecks",
    "LoopChoreography",
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
    "LoopWorkspace",
    "Misfit",
    "MissingLoopInput",
    "Need",
    "OpenedUnit",
    "PromptMode",
    "PromptNotFound",
    "RaciRole",
    "ScopeViolation",
    "Stability",
    "StepView",
    "StoredArtifact",
    "UnknownLoop",
    "UnknownLoopStep",
    "load_loops",
    "missing_prompts",
    "play_loop",
    "read_loop",
]
