"""Exit codes: the numbers, their meaning, and which one an error or a followed run has."""

from typing import Final

from callboard.core.errors import CallboardError, ErrorTier, Fault
from callboard.core.vocabulary.run import RunRecord, RunState

OK = 0
FAILED = 1
USAGE = 2
WAITING = 3
NOT_FOUND = 4
CONFLICT = 5
NEEDS_YOU = 6
INTERRUPTED = 130

MEANINGS = {
    OK: "it worked",
    FAILED: "the run or the operation failed, or a check found something wrong",
    USAGE: "the command was called the wrong way, or a value cannot be used",
    WAITING: "the run waits for the human: see `callboard answer`",
    NOT_FOUND: "something was named that does not exist",
    CONFLICT: "the thing named is not in a state that allows it",
    NEEDS_YOU: "something outside must be set right first: a key, a permission, disk space",
    INTERRUPTED: "interrupted by Ctrl-C; nothing finished is lost",
}

_BY_FAULT: Final = {Fault.MISSING: NOT_FOUND, Fault.UNUSABLE: USAGE, Fault.STATE: CONFLICT}


def code_of_error(error: Exception, tier: ErrorTier) -> int:
    """Return what an error means for a script."""
    fault = error.fault if isinstance(error, CallboardError) else None
    if fault is not None:
        return _BY_FAULT[fault]
    return NEEDS_YOU if tier is ErrorTier.USER_FIXABLE else FAILED


def code_of_run(run: RunRecord, *, was_interrupted: bool = False) -> int:
    """Return what the state of a run that was followed means for a script."""
    if was_interrupted and not run.is_terminal:
        return INTERRUPTED
    if run.state in (RunState.DONE, RunState.WAITING):
        return OK if run.state is RunState.DONE else WAITING
    needs_you = run.error is not None and run.error.tier is ErrorTier.USER_FIXABLE
    return NEEDS_YOU if needs_you else FAILED
