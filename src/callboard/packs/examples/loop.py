"""A loop: a text is planned, written, read and let pass, in whatever order gets it there."""

from pathlib import Path
from typing import Any, Final, Literal

from callboard.choreography.loop import (
    CodeOutcome,
    LoopChoreography,
    LoopHouse,
    LoopRegistry,
    LoopRole,
    NamedCast,
    NamedChecks,
    RecordWorkspace,
    StepView,
    load_loops,
)
from callboard.studio.studio import Studio

# What each kind of artifact looks like.
SHAPES: Final = dict[str, Any](
    outline=dict[Literal["points"], list[str]],
    draft=dict[Literal["text"], str],
    notes=dict[Literal["verdict", "findings"], Any],
    report=dict[Literal["decision", "why", "remediation"], Any],
    copy=dict[Literal["text"], str],
)
ROLES: Final = ("showrunner", "planner", "writer", "editor", "critic")
LOOPS: Final = LoopRegistry(load_loops([Path(__file__).parent / "loops"]))


def clean_copy(view: StepView) -> CodeOutcome:
    """Make the copy: the draft without stray spaces."""
    return CodeOutcome({"copy": {"text": " ".join(view.content("draft")["text"].split())}})


def bring(studio: Studio) -> LoopHouse:
    """Return what loops are played with here."""
    workspace = RecordWorkspace(studio, "examples", SHAPES)
    cast, checks = NamedCast(*map(LoopRole, ROLES)), NamedChecks(clean_copy=clean_copy)
    return LoopHouse("examples", LOOPS, workspace, cast, checks)


loop: Final = LoopChoreography(LOOPS.get("polish"), bring)
