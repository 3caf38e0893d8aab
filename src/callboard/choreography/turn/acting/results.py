"""What a step brought, in words made by code. Replies are told nothing else."""

from collections.abc import Sequence
from typing import Any

from callboard.choreography.turn.domain import TableWords
from callboard.choreography.turn.requests import WriteOp, WriteResult
from callboard.choreography.turn.shapes import StepResult, StepStatus, ThinkStep

_DONE = {
    WriteOp.CREATE: "Added",
    WriteOp.UPSERT: "Added",
    WriteOp.UPDATE: "Updated",
    WriteOp.DELETE: "Removed",
}
_MOST_NAMES = 6


def failed(step: ThinkStep, errors: Sequence[str]) -> StepResult:
    """Return the result of a step that could not be done."""
    return StepResult(
        step_id=step.id,
        status=StepStatus.FAILED,
        errors=[each for each in errors if each],
        summary=step.description,
    )


def skipped(step: ThinkStep, because: str) -> StepResult:
    """Return the result of a step that was not tried because another one failed."""
    return StepResult(
        step_id=step.id,
        status=StepStatus.SKIPPED,
        errors=[f"not tried, because this did not work: {because}"],
        summary=step.description,
    )


def words_for_read(words: TableWords, shown: int, total: int) -> str:
    """Say how much was found."""
    if total == 0:
        return f"Nothing found {words.within} {words.place}"
    rest = f" (of {total})" if total > shown else ""
    return f"Found {shown}{rest} {words.within} {words.place}"


def words_for_write(words: TableWords, result: WriteResult) -> str:
    """Say what was changed, by the rows as they were read back."""
    names = named(result.labels)
    verb = _DONE[result.op]
    count = len(result.ids) or result.created + result.updated + result.deleted
    said = f"{verb} {names}" if names else f"{verb} {count} {'row' if count == 1 else 'rows'}"
    merged = [f"{each.label} is now {_plain(each.after)}" for each in result.merged]
    where = {WriteOp.UPDATE: words.within, WriteOp.DELETE: "from"}.get(result.op, "to")
    return "; ".join([f"{said} {where} {words.place}", *merged])


def named(labels: Sequence[str]) -> str:
    """Return a few names, and how many more there are."""
    shown = [each for each in labels if each]
    rest = len(shown) - _MOST_NAMES
    listed = ", ".join(shown[:_MOST_NAMES])
    return f"{listed} and {rest} more" if rest > 0 else listed


def _plain(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
