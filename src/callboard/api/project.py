"""What routes share: the open project, pages of lists, and long work as jobs.

Asynchronous, though nothing is waited for: a plain function would be called in a thread, and no
request may have to wait for one of those just to be looked at.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Annotated, Any, Final, TypeVar, get_type_hints

from fastapi import Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, create_model

from callboard.core.clock import iso
from callboard.core.vocabulary import RunRecord
from callboard.store.connection import Connection
from callboard.store.journal.runs import find_run
from callboard.studio.privacy import Viewer
from callboard.studio.studio import Studio
from callboard.tools.audit.receipts import read_receipt


async def studio_of(request: Request) -> Studio:
    """Return the open project of the server."""
    return request.app.state.studio


OpenStudio = Annotated[Studio, Depends(studio_of)]


async def viewer_of(
    user_id: Annotated[
        str | None, Query(max_length=100, description="Who asks, where several people talk here.")
    ] = None,
) -> Viewer:
    """Return who asks."""
    return Viewer(user_id)


Asking = Annotated[Viewer, Depends(viewer_of)]


async def refuse_others(request: Request, viewer: Asking) -> None:
    """Refuse whatever is about a run, a session or a receipt of somebody else's conversation.

    Asked before every route of the runtime, so that none can forget it.
    """
    named = request.path_params
    session = str(named.get("session_id") or request.query_params.get("session_id") or "")
    if not session and not {"run_id", "receipt_id"} & named.keys():
        return

    def look(connection: Connection) -> None:
        told = session
        if "run_id" in named:
            run = find_run(connection, str(named["run_id"]))
            told = "" if run is None else run.session_id
        elif "receipt_id" in named:
            told = read_receipt(connection, str(named["receipt_id"])).session_id
        if told:
            viewer.require(connection, told)

    request.app.state.studio.database.read(look)


class Wanted(BaseModel):
    """Base of request bodies: a key that means nothing is an error, not a silent loss."""

    model_config = ConfigDict(extra="forbid")


class Shown(BaseModel):
    """Base of answers: what is named here is promised, more may be there."""

    model_config = ConfigDict(extra="allow")


Entry = dict[str, Any]


def promise(
    name: str, told: str, value: type, *, leave: Sequence[str] = (), **more: Any
) -> type[Shown]:
    """Return what an answer promises of a value: its fields but those left out, and more."""
    keys: dict[str, str] = getattr(value, "KEYS", {})
    hints, names = get_type_hints(value), [each.name for each in fields(value)]
    kinds = {keys.get(each, each): hints[each] for each in names if each not in leave}
    promised: dict[str, Any] = {each: (kind, ...) for each, kind in (kinds | more).items()}
    return create_model(name, __base__=Shown, __doc__=told, **promised)


T = TypeVar("T")

MAX_LIMIT: Final = 500


class Page:
    """The part of a list that a caller asked for."""

    def __init__(self, request: Request, response: Response, limit: int, offset: int) -> None:
        """Take the request it is for; the headers are set when the list is cut."""
        self.limit = limit
        self.offset = offset
        self._request = request
        self._response = response

    def cut(self, entries: Sequence[T]) -> list[T]:
        """Return the page and tell in the headers how many there are and where the next begins."""
        end = self.offset + self.limit
        self._response.headers["X-Total-Count"] = str(len(entries))
        if end < len(entries):
            following = self._request.url.include_query_params(limit=self.limit, offset=end)
            self._response.headers["Link"] = f'<{following}>; rel="next"'
        return list(entries[self.offset : end])


async def page_of(
    request: Request,
    response: Response,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Entries per page.")] = 100,
    offset: Annotated[int, Query(ge=0, le=1_000_000_000, description="Entries to skip.")] = 0,
) -> Page:
    """Return the part of a list that the query asks for."""
    return Page(request, response, limit, offset)


Paged = Annotated[Page, Depends(page_of)]


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


def run_names(run: RunRecord) -> Entry:
    """Return what a run is called, under the names the command line prints."""
    return {
        "id": run.id,
        "choreography": run.choreography,
        "state": run.state.value,
        "title": run.title,
        "session_id": run.session_id,
        "parent_id": run.parent_id,
        "origin": run.origin,
    }


def started(run: RunRecord, **more: Any) -> StartedJob:
    """Return a run that was just started, with what else its caller needs to know."""
    told = {"run_id": run.id, "status": "running", "events": _events(run), **more}
    return StartedJob.model_validate(told)


def job_shape(run: RunRecord) -> JobShape:
    """Return a run as it is now."""
    return JobShape.model_validate(
        {
            **run_names(run),
            "run_id": run.id,
            "status": run.state.value,
            "events": _events(run),
            "kind": run.choreography,
            "created_at": iso(run.created_at),
            "updated_at": iso(run.updated_at or run.created_at),
            "result": run.result,
            "error": None if run.error is None else run.error.to_json(),
        }
    )


def _events(run: RunRecord) -> str:
    return f"/api/runs/{run.id}/events"
