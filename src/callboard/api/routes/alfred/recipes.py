"""Recipes in and out: Markdown, JSON-LD and pasted text; plans and lists as files."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse
from pydantic import Field

from callboard.api.project import AlfredKitchen, Entry, Wanted
from callboard.api.routes.alfred.words import UserId
from callboard.core.canonical import plain

router = APIRouter(prefix="/alfred", tags=["alfred: recipes"])

Day = Annotated[str, Query(pattern=r"^(\d{4}-\d{2}-\d{2}|@[a-z_+\-0-9]{2,20})$")]


class ImportWanted(Wanted):
    """A text with recipes; without `write` it is only read."""

    text: str = Field(min_length=1, max_length=2_000_000)
    kind: Literal["markdown", "jsonld", "html", "text"] | None = None
    write: bool = False


@router.post("/recipes/import")
async def import_recipes(
    alfred: AlfredKitchen, wanted: ImportWanted, user_id: UserId = None
) -> Entry:
    """Read recipes from a text, with a confidence for every line; write them if that is wanted."""
    if not wanted.write:
        return {"report": _told(alfred.read_recipes(wanted.text, wanted.kind)), "written": []}
    who = alfred.who(user_id)
    report, written = await alfred.import_recipes(who, wanted.text, wanted.kind)
    return {
        "report": _told(report),
        "written": [each.model_dump(mode="json") for each in written],
    }


@router.get("/recipes/export")
async def export_recipes(
    alfred: AlfredKitchen,
    names: Annotated[list[str] | None, Query(max_length=200)] = None,
    as_format: Annotated[Literal["markdown", "jsonld"], Query(alias="format")] = "markdown",
    user_id: UserId = None,
) -> dict[str, str]:
    """Return recipes as texts by name; without names, all of them."""
    return await alfred.export_recipes(alfred.who(user_id), names or (), as_format)


@router.get("/calendar.ics", response_class=PlainTextResponse)
async def calendar(
    alfred: AlfredKitchen, start: Day = "@today", end: Day = "@today+13d", user_id: UserId = None
) -> PlainTextResponse:
    """Return planned meals as a calendar file."""
    text = await alfred.export_calendar(alfred.who(user_id), start, end)
    return PlainTextResponse(text, media_type="text/calendar")


@router.get("/shopping.txt", response_class=PlainTextResponse)
async def shopping(alfred: AlfredKitchen, user_id: UserId = None) -> PlainTextResponse:
    """Return the shopping list as text, grouped as its owner likes it."""
    return PlainTextResponse(await alfred.export_shopping(alfred.who(user_id)))


def _told(report: Any) -> Entry:
    return plain(asdict(report))
