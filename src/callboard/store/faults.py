"""Named points at which a test may kill, block or fail the process; silent in production."""

from typing import Final, Protocol


class FaultPoints(Protocol):
    """Is told each time execution passes a named commit point."""

    def reach(self, point: str) -> None:
        """Return, raise, block or never return."""
        ...


class NoFaults:
    """Nothing ever happens."""

    def reach(self, point: str) -> None:
        """Let execution pass."""


COMMIT_POINTS: Final = (
    "store.before_commit",
    "store.after_commit",
    "step.before_intent",
    "step.after_intent",
    "step.before_record",
    "step.after_record",
    "question.before_ask",
    "question.after_ask",
    "run.before_finish",
    "run.after_finish",
    "mirror.before_write",
    "mirror.after_write",
    "receipts.before_mirror",
    "receipts.after_mirror",
)
