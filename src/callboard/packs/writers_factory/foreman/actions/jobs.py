"""Long work: an action that starts a run, exactly once, and names it or waits for it."""

from collections.abc import Mapping
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import RunRecord, RunState
from callboard.packs.writers_factory.foreman.actions.executor import ActionCall
from callboard.packs.writers_factory.foreman.actions.results import Done, short
from callboard.packs.writers_factory.model import PACK
from callboard.store.connection import Connection
from callboard.store.records import Records

_KIND: Final = "job"


class JobFailed(CallboardError):
    """A run that an action waited for did not end well."""

    code = "job_failed"


async def start_run(call: ActionCall) -> Done:
    """Start the run an action stands for."""
    studio = call.stage.studio
    records = Records(studio.database, PACK, studio.clock)
    # The same action of the same turn finds its run again.
    job_id = call.once
    known = records.get(_KIND, job_id)
    if known is None:

        def keep(connection: Connection, run: RunRecord) -> None:
            records.store(connection, _KIND, job_id, {"run_id": run.id, "action": call.spec.name})

        started = await studio.start(
            f"{PACK}/{call.spec.run}",
            _arguments(call),
            session_id=call.stage.run.session_id,
            together=keep,
        )
        run_id = started.id
    else:
        run_id = str(known["run_id"])
    if not call.spec.waits:
        return Done(f"started as run {run_id}", {"run_id": run_id}, job=run_id)
    return _outcome(await studio.engine.wait(run_id, settled=True))


def _arguments(call: ActionCall) -> dict[str, Json]:
    given = {**call.spec.fixed, **call.values}
    renamed = {call.spec.rename.get(name, name): value for name, value in given.items()}
    return {name: value for name, value in renamed.items() if value is not None}


def _outcome(run: RunRecord) -> Done:
    if run.state is RunState.DONE:
        return Done(_told(run.result), run.result, job=run.id)
    if run.state in (RunState.WAITING, RunState.PAUSED):
        return Done(f"run {run.id} waits for you", {"run_id": run.id}, job=run.id)
    told = run.error.message if run.error is not None else run.state.value
    raise JobFailed(f"Run {run.id} did not finish: {told}", run_id=run.id)


def _told(result: Json) -> str:
    """Return what a run says of itself in a few words."""
    if isinstance(result, Mapping):
        for name in ("summary", "text", "message"):
            told = cast("Mapping[str, Any]", result).get(name)
            if isinstance(told, str) and told.strip():
                return told.strip()
    return short(result, 1200)
