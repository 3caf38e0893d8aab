"""What can go wrong while a run is executed, sorted by who must act."""

from typing import ClassVar

from callboard.core.errors import CallboardError, ErrorRecord, Fault, InvalidInput


class NonDeterministic(CallboardError):
    """The choreography asked for a finished step again, with other inputs."""

    code = "non_deterministic"


class DuplicateKey(CallboardError):
    """A choreography used one step key twice."""

    code = "duplicate_key"


class StepFailed(CallboardError):
    """A step ended with an error; raised again, the same, on every replay."""

    code = "step_failed"

    def __init__(self, key: str, error: ErrorRecord) -> None:
        """Carry the journaled error and the key of the step."""
        super().__init__(f"Step {key!r} failed: {error.message}", fix=error.fix, key=key)
        self.key = key
        self.error = error
        self.tier = error.tier

    def record(self) -> ErrorRecord:
        """Return the step's own error, with the step named."""
        context = {**self.error.context, "step": self.key}
        return ErrorRecord(self.error.code, self.message, self.error.tier, self.error.fix, context)


class NotJson(InvalidInput):
    """A step returned what JSON cannot hold; what it did is done all the same."""

    is_refusal = False


class NotNow(CallboardError):
    """A step cannot be done now; nothing is journaled, and its key may be asked for again.

    Only a step that may be repeated can be put off: of a `once` step the intent is on record, so
    that it fails like any other.
    """

    code = "not_now"
    is_refusal = True

    def __init__(self, reason: CallboardError) -> None:
        """Carry what stands in the way."""
        super().__init__(reason.message, fix=reason.fix, **reason.context)
        self.reason = reason
        self.tier = reason.tier


class StrayCancel(CallboardError):
    """Something inside a step or a choreography was cancelled, and nobody asked the run to stop.

    A library that leaks a cancellation, or a task that was awaited after somebody else stopped it.
    """

    code = "cancelled_from_inside"


class NotBegun(CallboardError):
    """A `once` step was cancelled when its intent was stored and its effect had not begun."""

    code = "not_begun"
    is_refusal = True


class RunInterrupted(CallboardError):
    """The process that executed a run died, and the settings say not to resume by itself."""

    code = "interrupted"


class UnknownChoreography(CallboardError):
    """A run names a choreography that nobody offers."""

    code = "unknown_choreography"
    fault = Fault.MISSING


class Halt(BaseException):
    """Ends the execution of a run here and now; no `except Exception` may swallow it."""

    reason: ClassVar[str] = "halted"


class TakenOver(Halt):
    """Another process owns the run."""

    reason = "taken over by another process"


class JournalUnavailable(Halt):
    """The journal could not be written: going on would lose finished work."""

    reason = "the journal could not be written"

    def __init__(self, error: CallboardError) -> None:
        """Carry the store's explanation."""
        super().__init__(str(error))
        self.error = error


class RecordRefused(Halt):
    """What a finished step left behind breaks a rule of the database; the run has gone on since."""

    reason = "the record of a step was refused"

    def __init__(self, error: Exception) -> None:
        """Carry what was wrong with it."""
        super().__init__(str(error))
        self.error = error
