"""Dispatcher: the one interface behind which runs find a process that executes them."""

from typing import Protocol

from callboard.engine.live import LiveRun


class Dispatcher(Protocol):
    """Sees to it that a run is executed by exactly one process, here or elsewhere.

    All dispatchers share the journal, the executor and the signals' tables; they differ only in
    how a run id reaches a process.
    """

    async def start(self) -> None:
        """Begin to execute runs and to act on signals and answers."""
        ...

    async def stop(self) -> None:
        """Let go of every live run, so that it can be resumed later or elsewhere."""
        ...

    async def dispatch(self, run_id: str, *, is_new: bool = False) -> None:
        """See to it that an open run is executed; a new one cannot have done anything yet."""
        ...

    def live(self, run_id: str) -> LiveRun | None:
        """Return the run if this very process executes it, or was interrupted executing it."""
        ...

    def has(self, run_id: str) -> bool:
        """Say whether this very process executes a run, or is about to."""
        ...

    def poke(self) -> None:
        """Look at signals and answers now instead of at the next tick."""
        ...
