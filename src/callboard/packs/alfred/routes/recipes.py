"""Recipes in and out: Markdown, JSON-LD and pasted text; plans and lists as files."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import Field

from callboard.api.project import Entry, Wanted
from callboard.choreography.turn.requests import WriteResult
from callboard.core.canonical import plain
from callboard.packs.alfred.request import AlfredKitchen
from callboard.packs.alfred.routes.request_fields import UserId
from callboard.tools import off_loop

router = APIRouter(prefix="/alfred", tags=["alfred: recipes"])

Day = Annotated[str, Query(pattern=r"^(\d{4}-\d{2}-\d{2}|@[a-z_+\-0-9]{2,20})$")]


class CalendarResponse(PlainTextResponse):
    """A calendar file."""

    media_type = "text/calendar"


class ImportWanted(Wanted):
    """A text with recipes; without `write` it is only read."""

    text: str = Field(min_length=1, max_length=2_000_000)
    kind: Literal["markdown", "jsonld", "html", "text"] | None = None
    write: bool = False


@router.post("/recipes/import", response_model=Entry)
async def import_recipes(
    alfred: AlfredKitchen, wanted: ImportWanted, user_id: UserId = None
) -> JSONResponse:
    """Read recipes from a text, with a confidence for every line; write them if that is wanted.

    A text takes at most 2,000,000 bytes (text and Markdown 300,000). Of 50 recipes, of 300
    ingredients and 300 steps each and 1,500 ingredients in all, the first are read; a warning says
    what was left out.
    """
    if not wanted.write:
        read = await alfred.read_recipes(wanted.text, wanted.kind)
        return await off_loop(_told, read, [])
    who = alfred.who(user_id)
    report, written = await alfred.import_recipes(who, wanted.text, wanted.kind)
    return await off_loop(_told, report, written)


@router.get("/recipes/export")
async def export_recipes(
    alfred: AlfredKitchen,
    names: Annotated[list[str] | None, Query(max_length=200)] = None,
    as_format: Annotated[Literal["markdown", "jsonld"], Query(alias="format")] = "markdown",
    user_id: UserId = None,
) -> dict[str, str]:
    """Return recipes as texts by name; without names, all of them."""
    return await alfred.export_recipes(alfred.who(user_id), names or (), as_format)


@router.get("/calendar.ics", response_class=CalendarResponse)
async def calendar(
    alfred: AlfredKitchen, start: Day = "@today", end: Day = "@today+13d", user_id: UserId = None
) -> CalendarResponse:
    """Return planned meals as a calendar file."""
    return CalendarResponse(await alfred.export_calendar(alfred.who(user_id), start, end))


@router.get("/shopping.txt", response_class=PlainTextResponse)
async def shopping(alfred: AlfredKitchen, user_id: UserId = None) -> PlainTextResponse:
    """Return the shopping list as text, grouped as its owner likes it."""
    return PlainTextResponse(await alfred.export_shopping(alfred.who(user_id)))


def _told(report: Any, written: list[WriteResult]) -> JSONResponse:
    # A long report is written where it was read: writing it takes a while as well.
    shown = [each.model_dump(mode="json") for each in written]
    return JSONResponse({"report": plain(asdict(report)), "written": shown})
