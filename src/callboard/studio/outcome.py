"""The outcome of a run that somebody waits for: its result, or its failure as it was."""

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import RunRecord, RunState
from callboard.engine.engine import Engine


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
