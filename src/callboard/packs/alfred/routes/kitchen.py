"""The kitchen's rows without a conversation: read, preview, write, undo.

The same validation, ownership, thresholds and log as in a conversation.
"""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import Field

from callboard.api.project import Entry, Shown, Wanted
from callboard.choreography.turn.requests import (
    ReadRequest,
    ReadResult,
    UndoResult,
    WritePreview,
    WriteRequest,
    WriteResult,
)
from callboard.core.errors import NotFound
from callboard.packs.alfred.request import AlfredKitchen
from callboard.packs.alfred.routes.request_fields import UserId

router = APIRouter(prefix="/alfred", tags=["alfred: kitchen"])

Table = Annotated[str, Path(max_length=60)]


class WriteWanted(Wanted):
    """A change; what needs the user's word takes the preview they agreed to."""

    request: WriteRequest
    confirmed: WritePreview | None = None
    request_id: Annotated[str | None, Field(max_length=100)] = None


class TableShape(Shown):
    """A table: what can be read and written of it."""

    name: str
    columns: list[str]
    writable: list[str]
    relations: list[str]


@router.get("/tables")
async def list_tables(alfred: AlfredKitchen) -> list[TableShape]:
    """List the tables of the kitchen."""
    tables = alfred.kitchen.tables
    return [
        TableShape(
            name=name,
            columns=list(tables[name].readable),
            writable=list(tables[name].writable),
            relations=list(tables[name].relations),
        )
        for name in tables.names()
    ]


@router.get("/rows/{table}")
async def list_rows(
    alfred: AlfredKitchen,
    table: Table,
    user_id: UserId = None,
    search: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> ReadResult:
    """List rows of a table, looked through for some words if there are any."""
    if alfred.kitchen.tables.find(table) is None:
        raise NotFound(
            f"There is no table {table!r}", fix="`/api/alfred/tables` lists them.", table=table
        )
    filters: list[Any] = [{"field": "", "op": "search", "value": search}] if search else []
    request = ReadRequest.model_validate(
        {"table": table, "filters": filters, "limit": limit, "offset": offset}
    )
    return await alfred.read(alfred.who(user_id), request)


@router.post("/read")
async def read(alfred: AlfredKitchen, wanted: ReadRequest, user_id: UserId = None) -> ReadResult:
    """Read rows by the filter language."""
    return await alfred.read(alfred.who(user_id), wanted)


@router.post("/preview")
async def preview(
    alfred: AlfredKitchen, wanted: WriteRequest, user_id: UserId = None
) -> WritePreview:
    """Say what a change would touch, and why one would be asked first."""
    return await alfred.preview(alfred.who(user_id), wanted)


@router.post("/write")
async def write(alfred: AlfredKitchen, wanted: WriteWanted, user_id: UserId = None) -> WriteResult:
    """Change rows, all of a request or nothing; the same request id is the same change."""
    return await alfred.write(
        alfred.who(user_id), wanted.request, wanted.confirmed, wanted.request_id
    )


@router.post("/undo")
async def undo(alfred: AlfredKitchen, user_id: UserId = None) -> UndoResult:
    """Take back the last change that was made without a conversation."""
    return await alfred.undo(alfred.who(user_id))


@router.post("/seed")
async def seed(alfred: AlfredKitchen, user_id: UserId = None) -> Entry:
    """Fill an empty kitchen with something to try things on; one with recipes stays as it is."""
    return dict(await alfred.seed(alfred.who(user_id)))


@router.get("/counts")
async def counts(alfred: AlfredKitchen, user_id: UserId = None) -> Entry:
    """Count what there is."""
    return dict(await alfred.kitchen.counts(alfred.who(user_id)))


@router.get("/glance")
async def glance(alfred: AlfredKitchen, user_id: UserId = None) -> Entry:
    """Return a kitchen at one look: what to buy, what is there and expires, the week's meals."""
    return asdict(await alfred.glance(alfred.who(user_id)))
