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
from callboard.choreography.loop.reading import read_loop
from callboard.choreography.loop.registry import LoopRegistry, UnknownLoop, load_loops

__all__ = [
    "ArtifactDraft",
    "CodeOutcome",
    "Loop",
    "LoopCast",
    "LoopChecks",
    "LoopInvalid",
    "LoopRegistry",
    "LoopRequest",
    "LoopRole",
    "LoopStep",
    "LoopWorkspace",
    "Misfit",
    "Need",
    "OpenedUnit",
    "PromptMode",
    "RaciRole",
    "Stability",
    "StepView",
    "StoredArtifact",
    "UnknownLoop",
    "UnknownLoopStep",
    "load_loops",
    "read_loop",
]
