"""When a plan is shown to the user before anything of it is written."""

from typing import Final

from callboard.choreography.turn.domain import ModeSpec
from callboard.choreography.turn.shapes import StepType, ThinkOutput, ThinkStep

_SIMPLE_STEPS: Final = 2
BULK_ROWS: Final = 3


def must_propose(plan: ThinkOutput, mode: ModeSpec) -> bool:
    """Say whether a plan waits for the user's word; short plans never do."""
    writes = [step for step in plan.steps if step.step_type is StepType.WRITE]
    if not writes or len(plan.steps) <= _SIMPLE_STEPS:
        return False
    if mode.consent == "proposal":
        return True
    return mode.consent == "optional" and any(not _saves_draft(each) for each in writes)


def must_confirm_rows(count: int, mode: ModeSpec) -> bool:
    """Say whether a write of so many rows waits for the user's word in a mode."""
    return mode.consent == "proposal" and count > BULK_ROWS


def _saves_draft(step: ThinkStep) -> bool:
    """Say whether a write only keeps what was generated."""
    return step.write is not None and step.write.from_content is not None
