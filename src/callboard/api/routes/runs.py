"""Runs: of recipes listed and started, of any kind shown, watched, cancelled, retried; sessions."""

import asyncio
from dataclasses import asdict, dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from callboard.api.project import (
    Asking,
    Entry,
    JobShape,
    OpenStudio,
    Paged,
    Shown,
    Wanted,
    job_shape,
    run_names,
)
from callboard.api.streaming import STREAM, resume_point, stream_run
from callboard.choreography.recipe import (
    RecipeNotFound,
    RecipeRequest,
    RunView,
    apply_proposals,
    is_recipe_run,
    list_proposals,
    run_line,
)
from callboard.core.errors import Conflict, NotFound
from callboard.core.vocabulary import RunRecord, RunState, SessionRecord, SessionState, SignalKind
from callboard.operations.runtime import begin_session, send_signal
from callboard.store.journal.runs import list_runs, load_run

router = APIRouter(prefix="/runs", tags=["runs"])


class RunLine(Shown):
    """A run as it stands in a list."""

    run_id: str
    recipe_id: str
    status: RunState
    created_at: str


class RunDetail(RunLine):
    """Everything a page about a run needs."""

    session_id: str
    task: Entry
    current_step_index: int
    total_steps: int
    phase: str | None
    steps: list[Entry]
    cache_summary: dict[str, Entry]
    error: Entry | None


class StartedRun(Shown):
    """A run that has begun."""

    run_id: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWanted(RecipeRequest):
    """A recipe to be run, with what its words do not say."""

    recipe_id: Annotated[str, Field(min_length=1, max_length=200)]
    session_id: str | None = None


class RetryWanted(Wanted):
    """From where a run is begun again; without a step, where it failed."""

    from_step: str | None = None


class ApplyWanted(Wanted):
    """Which proposal is applied; without a path, all of the run."""

    path: str | None = None
    force: bool = False


@router.post("", status_code=201)
async def start_run(studio: OpenStudio, wanted: RunWanted) -> StartedRun:
    """Start a recipe."""
    try:
        name = studio.repertoire.full_name(wanted.recipe_id)
    except NotFound as error:
        raise RecipeNotFound(
            f"There is no recipe {wanted.recipe_id!r}", fix=error.fix, recipe_id=wanted.recipe_id
        ) from error
    run = await studio.start(
        name,
        {
            "args": wanted.args,
            "description": wanted.description,
            "agents": wanted.agents,
            "session_plan_task_id": wanted.session_plan_task_id,
        },
        session_id=wanted.session_id,
    )
    return StartedRun(run_id=run.id, status="running")


@router.get("")
async def list_all(
    studio: OpenStudio,
    page: Paged,
    viewer: Asking,
    status: RunState | None = None,
    recipe_id: Annotated[str | None, Query(max_length=200)] = None,
) -> list[RunLine]:
    """List the runs of recipes, newest first."""
    states = (status,) if status is not None else ()
    name = f"{studio.settings.pack}/{recipe_id}" if recipe_id is not None else None
    runs = await asyncio.to_thread(
        studio.database.read,
        lambda connection: viewer.among(
            connection,
            list_runs(connection, states=states, choreography=name),
            lambda run: run.session_id,
        ),
    )
    found = page.cut([run for run in runs if is_recipe_run(run)])
    return [RunLine.model_validate(run_names(run) | run_line(run)) for run in found]


@router.get("/{run_id}")
async def show_run(studio: OpenStudio, run_id: str) -> RunDetail | JobShape:
    """Show a run as it is now: a recipe's with its steps and slots, any other as a job."""
    run = studio.engine.load(run_id)
    if not is_recipe_run(run):
        return job_shape(run)
    detail = await asyncio.to_thread(
        studio.database.read, lambda c: RunView(c, load_run(c, run_id)).detail()
    )
    return RunDetail.model_validate(run_names(run) | detail)


@router.get("/{run_id}/steps")
async def show_steps(studio: OpenStudio, run_id: str) -> list[Entry]:
    """Show the log: one line per step that has ended."""
    return await asyncio.to_thread(
        studio.database.read, lambda c: RunView(c, load_run(c, run_id)).lines()
    )


@router.get("/{run_id}/cache/{slot}")
async def show_slot(studio: OpenStudio, run_id: str, slot: str) -> Entry:
    """Show one slot: a pointer with its receipt, or an artifact with its text."""
    return studio.database.read(lambda c: RunView(c, load_run(c, run_id)).slot(slot))


@router.get("/{run_id}/events", response_class=StreamingResponse, responses=STREAM)
async def follow_run(
    studio: OpenStudio,
    request: Request,
    run_id: str,
    after: Annotated[int, Query(ge=0, le=2**53, description="Only later than this number.")] = 0,
) -> StreamingResponse:
    """Stream what happens to a run until it is over."""
    return stream_run(studio, run_id, resume_point(request, after))


@router.post("/{run_id}/cancel")
async def cancel_run(studio: OpenStudio, run_id: str) -> StartedRun:
    """Stop a run; a reply that comes late is discarded and nothing more is written."""
    run = studio.engine.load(run_id)
    _require_open(run)
    await send_signal(studio, run_id, SignalKind.CANCEL, "cancelled by the user")
    return StartedRun(run_id=run_id, status=studio.engine.load(run_id).state.value)


@router.post("/{run_id}/retry", status_code=201)
async def retry_run(
    studio: OpenStudio, run_id: str, wanted: RetryWanted | None = None
) -> StartedRun:
    """Begin a failed or cancelled run again, keeping what it had finished."""
    run = await studio.retry(run_id, from_step=wanted.from_step if wanted is not None else None)
    return StartedRun(run_id=run.id, status="running", retried_from=run_id)  # pyright: ignore[reportCallIssue]


@router.get("/{run_id}/proposals")
async def show_proposals(studio: OpenStudio, run_id: str) -> list[Entry]:
    """Show what a run would write, as a diff against the file of now."""
    return [each.to_json() for each in await list_proposals(studio, run_id)]


@router.post("/{run_id}/apply")
async def apply(studio: OpenStudio, run_id: str, wanted: ApplyWanted | None = None) -> list[Entry]:
    """Write what a run proposes; the old file is kept."""
    chosen = wanted or ApplyWanted()
    applied = await apply_proposals(studio, run_id, path=chosen.path, force=chosen.force)
    return [each.to_json() for each in applied]


def _require_open(run: RunRecord) -> None:
    if run.is_terminal:
        raise Conflict(f"Run {run.id} is {run.state.value} and cannot be cancelled", run_id=run.id)


sessions_router = APIRouter(prefix="/sessions", tags=["sessions"])


class SessionShape(Shown):
    """One session."""

    id: str
    name: str
    state: SessionState


class NewSession(Wanted):
    """A session to be begun."""

    name: str = Field(default="", max_length=200)


@sessions_router.get("")
async def list_sessions(
    studio: OpenStudio, page: Paged, viewer: Asking, state: SessionState | None = None
) -> list[SessionShape]:
    """List sessions."""
    listed = studio.sessions.list(state)
    found = studio.database.read(lambda c: viewer.among(c, listed, lambda session: session.id))
    return [_shape(each) for each in page.cut(found)]


@sessions_router.post("", status_code=201)
async def create_session(studio: OpenStudio, wanted: NewSession) -> SessionShape:
    """Begin a session."""
    return _shape(await begin_session(studio, wanted.name))


@sessions_router.get("/{session_id}")
async def show_session(studio: OpenStudio, session_id: str) -> SessionShape:
    """Show a session."""
    return _shape(studio.sessions.get(session_id))


def _shape(session: SessionRecord) -> SessionShape:
    return SessionShape.model_validate({**asdict(session), "state": session.state.value})
