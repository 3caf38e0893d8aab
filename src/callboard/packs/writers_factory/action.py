"""Actions of the Foreman: what a turn brings to an operation, and what the Foreman is told of it.

An operation an agent may cause is an action. Its arguments are what a reply writes; `cause` is
filled in by the turn and shown to no model.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, cast

from pydantic import StringConstraints

from callboard.core.canonical import Json, compact_json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import RunRecord, RunState
from callboard.core.words import shorten
from callboard.packs.writers_factory.model import PACK
from callboard.packs.writers_factory.workspace import Workspace
from callboard.store.connection import Connection
from callboard.studio.studio import Studio

CHALLENGE: Final = "CHALLENGE:"
_KIND: Final = "job"
_SHORT_CHARS: Final = 300
_STATED: Final = {
    "user_stated": "writer_stated",
    "user": "writer_stated",
    "writer": "writer_stated",
}

Filled = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Words that must be there."""

Words = Annotated[str, StringConstraints(strip_whitespace=True)]
"""Words that may be left out."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The turn an action belongs to; `once` names this action of it and no other."""

    once: str
    run_id: str
    session_id: str
    mode: str

    def source(self, said: str = "") -> str:
        """Return where what an action says comes from; what names nobody comes from its turn."""
        return _STATED.get(said.lower(), said) or f"conversation:{self.run_id}"


@dataclass(frozen=True, slots=True)
class Done:
    """What an action led to: in one line, as data, and what the writer is told beside it."""

    detail: str
    data: Json = None
    # The run that does the work, where it goes on after the turn.
    job: str | None = None
    notices: tuple[str, ...] = ()
    # The turn waits for the run instead of naming it.
    waits: bool = False


class JobFailed(CallboardError):
    """A run that an action waited for did not end well."""

    code = "job_failed"


async def start_job(
    workspace: Workspace, cause: Cause, run: str, args: Mapping[str, Json], *, waits: bool = False
) -> Done:
    """Start one of the pack's runs; the same action of the same turn finds its run again."""
    known = workspace.records.get(_KIND, cause.once)
    if known is not None:
        run_id = str(known["run_id"])
    else:

        def keep(connection: Connection, started: RunRecord) -> None:
            body: dict[str, Json] = {"run_id": started.id, "action": run}
            workspace.records.store(connection, _KIND, cause.once, body)

        given: dict[str, Json] = {name: each for name, each in args.items() if each is not None}
        started = await workspace.studio.start(
            f"{PACK}/{run}", given, session_id=cause.session_id, together=keep
        )
        run_id = started.id
    return Done(f"started as run {run_id}", {"run_id": run_id}, run_id, waits=waits)


async def await_job(studio: Studio, run_id: str) -> Done:
    """Wait for a run an action started and return what it came to."""
    run = await studio.engine.wait(run_id, settled=True)
    if run.state is RunState.DONE:
        return Done(_told(run.result), run.result, job=run.id)
    if run.state in (RunState.WAITING, RunState.PAUSED):
        return Done(f"run {run.id} waits for you", {"run_id": run.id}, job=run.id)
    told = run.error.message if run.error is not None else run.state.value
    raise JobFailed(f"Run {run.id} did not finish: {told}", run_id=run.id)


def short(value: Json, limit_chars: int = _SHORT_CHARS) -> str:
    """Return a value in a few words."""
    text = value if isinstance(value, str) else compact_json(value)
    return shorten(text, limit_chars, on_top=True, strip=True)


def _told(result: Json) -> str:
    """Return what a run says of itself in a few words."""
    if isinstance(result, Mapping):
        for name in ("summary", "text", "message"):
            told = cast("Mapping[str, Any]", result).get(name)
            if isinstance(told, str) and told.strip():
                return told.strip()
    return short(result, 1200)
