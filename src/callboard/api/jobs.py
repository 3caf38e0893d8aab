"""Jobs: long work as a door shows it. A job is a run; its events and its end are the run's."""

from typing import Any

from callboard.api.project import Entry, Shown
from callboard.core.clock import iso
from callboard.core.vocabulary import RunRecord


class StartedJob(Shown):
    """Long work that has begun; `events` is where it can be followed."""

    run_id: str
    status: str
    events: str


class JobShape(StartedJob):
    """Long work as it is now; `result` is there when it is done, `error` when it failed."""

    kind: str
    title: str
    session_id: str
    created_at: str
    updated_at: str
    result: Any = None
    error: Entry | None = None


def started(run: RunRecord, **more: Any) -> StartedJob:
    """Return a run that was just started, with what else its caller needs to know."""
    told = {"run_id": run.id, "status": "running", "events": _events(run), **more}
    return StartedJob.model_validate(told)


def job_shape(run: RunRecord) -> JobShape:
    """Return a run as it is now."""
    return JobShape(
        run_id=run.id,
        status=run.state.value,
        events=_events(run),
        kind=run.choreography,
        title=run.title,
        session_id=run.session_id,
        created_at=iso(run.created_at),
        updated_at=iso(run.updated_at or run.created_at),
        result=run.result,
        error=None if run.error is None else run.error.to_json(),
    )


def _events(run: RunRecord) -> str:
    return f"/api/runs/{run.id}/events"
