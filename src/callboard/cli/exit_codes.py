"""Which exit code an error or a followed run has."""

from typing import Final

from callboard.cli import exits
from callboard.core.errors import CallboardError, ErrorTier, Fault
from callboard.core.vocabulary.run import RunRecord, RunState

_BY_FAULT: Final = {
    Fault.MISSING: exits.NOT_FOUND,
    Fault.UNUSABLE: exits.USAGE,
    Fault.STATE: exits.CONFLICT,
}


def code_of_error(error: Exception, tier: ErrorTier) -> int:
    """Return what an error means for a script."""
    fault = error.fault if isinstance(error, CallboardError) else None
    if fault is not None:
        return _BY_FAULT[fault]
    return exits.NEEDS_YOU if tier is ErrorTier.USER_FIXABLE else exits.FAILED


def code_of_run(run: RunRecord, *, was_interrupted: bool = False) -> int:
    """Return what the state of a run that was followed means for a script."""
    if was_interrupted and not run.is_terminal:
        return exits.INTERRUPTED
    if run.state in (RunState.DONE, RunState.WAITING):
        return exits.OK if run.state is RunState.DONE else exits.WAITING
    needs_you = run.error is not None and run.error.tier is ErrorTier.USER_FIXABLE
    return exits.NEEDS_YOU if needs_you else exits.FAILED
