"""What a pack offers to be run, as the studio sees it, and the outcome of a run one waits for."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import RunRecord, RunState
from callboard.engine.engine import Engine
from callboard.engine.run import Run
from callboard.store.connection import Connection
from callboard.store.mirror import RunFolder


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that may be started: its arguments, checked, and what else is known of it.

    `guard` is called in the transaction that stores the run; what it raises keeps it from starting.
    `admit` is called there too, with the run as it is stored: for what depends on its session.
    """

    args: dict[str, Json]
    title: str = ""
    guard: Callable[[Connection], None] | None = None
    admit: Callable[[Connection, RunRecord], None] | None = None


class Choreography(Protocol):
    """What a pack offers to be run."""

    @property
    def summary(self) -> str:
        """One sentence for the user."""
        ...

    @property
    def parameters(self) -> Mapping[str, str]:
        """The arguments it takes, each with a word on its type and default."""
        ...

    def prepare(self, studio: Any, raw: Mapping[str, Json]) -> Awaitable[Prepared]:
        """Check what a run is to be started with, in a `Studio`, and complete it."""
        ...

    def perform(self, studio: Any, run: Run) -> Awaitable[Json]:
        """Execute one run in a `Studio`, which is not named here because it stands on this."""
        ...


class ChoreographySource(Protocol):
    """Choreographies that are found when asked for, such as one per file of a folder."""

    def names(self) -> tuple[str, ...]:
        """Return what it offers now."""
        ...

    def find(self, name: str) -> Choreography | None:
        """Return what it offers under a name."""
        ...

    def resume(self, name: str) -> Choreography | None:
        """Return what goes on with runs of a name, even if nothing new may be started under it."""
        ...


@runtime_checkable
class Restartable(Protocol):
    """A choreography that knows from where a run of it is best begun again."""

    def restart_key(self, studio: Any, run: RunRecord, from_step: str | None) -> str | None:
        """Return the key of the first step to be executed again; None keeps all that is done."""
        ...

    def guard(self, studio: Any, run: RunRecord) -> Callable[[Connection], None] | None:
        """Return what may keep the new run from starting."""
        ...


@runtime_checkable
class Foldered(Protocol):
    """A choreography whose runs have a folder of their own shape."""

    def folder(self, connection: Connection, run: RunRecord) -> RunFolder:
        """Return what the folder of a run holds."""
        ...


class RunUnsuccessful(CallboardError):
    """A run that somebody waited for ended without a result."""

    code = "run_unsuccessful"


async def result_of(engine: Engine, run: RunRecord) -> Json:
    """Wait until nothing more happens by itself and return the result, or raise why there is none.

    A run's error is raised under its own code, so that doors tell it like any other.
    """
    ended = await engine.wait(run.id, settled=True)
    if ended.state is RunState.DONE:
        return ended.result
    if ended.error is not None:
        raise _as_raised(ended)
    raise RunUnsuccessful(
        f"Run {run.id} is {ended.state.value}",
        fix=f"Look at it with `callboard runs show {run.id}`.",
        run_id=run.id,
        status=ended.state.value,
    )


def _as_raised(run: RunRecord) -> CallboardError:
    assert run.error is not None  # noqa: S101 - asked by the caller
    context = {**run.error.context, "run_id": run.id}
    error = RunUnsuccessful(run.error.message, fix=run.error.fix, **context)
    error.code = run.error.code  # type: ignore[misc]
    return error
