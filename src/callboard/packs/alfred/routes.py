"""Alfred over HTTP: the kitchen's rows, recipes in and out, and the people who cook.

Rows are read, previewed, written and undone with the same validation, ownership, thresholds and
log as in a conversation.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path, Query
from fastapi.responses import JSONResponse, PlainTextResponse
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
from callboard.core.canonical import plain
from callboard.core.errors import NotFound
from callboard.packs.alfred import exchange
from callboard.packs.alfred.kitchen.onboarding import SKIP, Onboarding
from callboard.packs.alfred.talk_routes import AlfredKitchen, UserId, router
from callboard.tools import off_loop

rows_router = APIRouter(prefix="/alfred", tags=["alfred: kitchen"])

Table = Annotated[str, Path(max_length=60)]


class WriteWanted(Wanted):
    """A change; what needs the user's word takes the preview they agreed to."""

    request: WriteRequest
    confirmed: WritePreview | None = None
    request_id: Annotated[str | None, Field(max_length=100)] = None


class KitchenTableShape(Shown):
    """A table: what can be read and written of it."""

    name: str
    columns: list[str]
    writable: list[str]
    relations: list[str]


@rows_router.get("/tables")
async def list_tables(alfred: AlfredKitchen) -> list[KitchenTableShape]:
    """List the tables of the kitchen."""
    tables = alfred.kitchen.tables
    return [
        KitchenTableShape(
            name=name,
            columns=list(tables[name].readable),
            writable=list(tables[name].writable),
            relations=list(tables[name].relations),
        )
        for name in tables.names()
    ]


@rows_router.get("/rows/{table}")
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
    return await alfred.kitchen.read(alfred.who(user_id), request)


@rows_router.post("/read")
async def read(alfred: AlfredKitchen, wanted: ReadRequest, user_id: UserId = None) -> ReadResult:
    """Read rows by the filter language."""
    return await alfred.kitchen.read(alfred.who(user_id), wanted)


@rows_router.post("/preview")
async def preview(
    alfred: AlfredKitchen, wanted: WriteRequest, user_id: UserId = None
) -> WritePreview:
    """Say what a change would touch, and why one would be asked first."""
    return await alfred.kitchen.preview(alfred.who(user_id), wanted)


@rows_router.post("/write")
async def write(alfred: AlfredKitchen, wanted: WriteWanted, user_id: UserId = None) -> WriteResult:
    """Change rows, all of a request or nothing; the same request id is the same change."""
    return await alfred.write(
        alfred.who(user_id), wanted.request, wanted.confirmed, wanted.request_id
    )


@rows_router.post("/undo")
async def undo(
    alfred: AlfredKitchen,
    confirmed: Annotated[WritePreview | None, Body(embed=True)] = None,
    user_id: UserId = None,
) -> UndoResult:
    """Take back the last change made without a conversation; some needs the preview of it."""
    return await alfred.undo(alfred.who(user_id), confirmed)


@rows_router.post("/seed")
async def seed(alfred: AlfredKitchen, user_id: UserId = None) -> Entry:
    """Fill an empty kitchen with something to try things on; one with recipes stays as it is."""
    return dict(await alfred.seed(alfred.who(user_id)))


@rows_router.get("/counts")
async def counts(alfred: AlfredKitchen, user_id: UserId = None) -> Entry:
    """Count what there is."""
    return dict(await alfred.kitchen.counts(alfred.who(user_id)))


@rows_router.get("/glance")
async def glance(alfred: AlfredKitchen, user_id: UserId = None) -> Entry:
    """Return a kitchen at one look: what to buy, what is there and expires, the week's meals."""
    return asdict(await alfred.kitchen.glance(alfred.who(user_id)))


people_router = APIRouter(prefix="/alfred", tags=["alfred: people"])


class NewPersonWanted(Wanted):
    """Somebody who joins the household."""

    user_id: str = Field(min_length=1, max_length=100)
    name: str = Field(default="", max_length=200)
    timezone: str = Field(default="UTC", max_length=60)


class ProfileWanted(Wanted):
    """What is known about somebody; what is not named stays."""

    values: dict[str, Any]
    confirmed: WritePreview | None = None


class AnswerWanted(Wanted):
    """The answer to a question that is asked once; None skips it."""

    question: str = Field(min_length=1, max_length=60)
    answer: str | None = Field(default=None, max_length=500)


class OnboardingShape(Shown):
    """How far somebody is with the questions that are asked once."""

    open: list[Entry]
    answered: dict[str, str]


@people_router.get("/people")
async def list_people(alfred: AlfredKitchen) -> list[Entry]:
    """List who cooks here."""
    return [dict(each) for each in alfred.people()]


@people_router.post("/people", status_code=201)
async def add_person(alfred: AlfredKitchen, wanted: NewPersonWanted) -> Entry:
    """Give somebody a place in the household."""
    is_new = await alfred.add_person(wanted.user_id, wanted.name, wanted.timezone)
    return {"user_id": wanted.user_id, "is_new": is_new}


@people_router.get("/profile")
async def read_profile(alfred: AlfredKitchen, user_id: UserId = None) -> Entry:
    """Return what is known about somebody."""
    return dict(await alfred.kitchen.profile_row(alfred.who(user_id)))


@people_router.put("/profile")
async def set_profile(
    alfred: AlfredKitchen, wanted: ProfileWanted, user_id: UserId = None
) -> WriteResult:
    """Change what is known; dropping an allergy or a diet needs the preview of it."""
    values: Mapping[str, Any] = wanted.values
    return await alfred.set_profile(alfred.who(user_id), values, wanted.confirmed)


@people_router.get("/onboarding")
async def next_questions(alfred: AlfredKitchen, user_id: UserId = None) -> OnboardingShape:
    """Return what is asked once and has not been answered yet, and what was answered."""
    return _told(await alfred.onboarding(alfred.who(user_id)))


@people_router.post("/onboarding")
async def answer_question(
    alfred: AlfredKitchen, wanted: AnswerWanted, user_id: UserId = None
) -> OnboardingShape:
    """Answer one question, or skip it."""
    answer = SKIP if wanted.answer is None else wanted.answer
    return _told(await alfred.answer_onboarding(alfred.who(user_id), wanted.question, answer))


def _told(state: Onboarding) -> OnboardingShape:
    return OnboardingShape(open=[asdict(each) for each in state.open], answered=dict(state.answers))


recipes_router = APIRouter(prefix="/alfred", tags=["alfred: recipes"])

Day = Annotated[str, Query(pattern=r"^(\d{4}-\d{2}-\d{2}|@[a-z_+\-0-9]{2,20})$")]


class CalendarResponse(PlainTextResponse):
    """A calendar file."""

    media_type = "text/calendar"


class ImportWanted(Wanted):
    """A text with recipes; without `write` it is only read."""

    text: str = Field(min_length=1, max_length=2_000_000)
    kind: Literal["markdown", "jsonld", "html", "text"] | None = None
    write: bool = False
    # Store also what somebody in the house must not eat; the receipt says that it was known.
    anyway: bool = False


@recipes_router.post("/recipes/import", response_model=Entry)
async def import_recipes(
    alfred: AlfredKitchen, wanted: ImportWanted, user_id: UserId = None
) -> JSONResponse:
    """Read recipes from a text, with a confidence for every line; write them if that is wanted.

    A text takes at most 2,000,000 bytes (text and Markdown 300,000). Of 50 recipes, of 300
    ingredients and 300 steps each and 1,500 ingredients in all, the first are read; a warning says
    what was left out.
    """
    if not wanted.write:
        read = await exchange.read_recipes(wanted.text, wanted.kind)
        return await off_loop(_recipes_told, read, [])
    who = alfred.who(user_id)
    taken = await exchange.import_recipes(
        alfred, who, wanted.text, wanted.kind, anyway=wanted.anyway
    )
    return await off_loop(_recipes_told, taken.report, taken.written, taken.refused)


@recipes_router.get("/recipes/export")
async def export_recipes(
    alfred: AlfredKitchen,
    names: Annotated[list[str] | None, Query(max_length=200)] = None,
    as_format: Annotated[Literal["markdown", "jsonld"], Query(alias="format")] = "markdown",
    user_id: UserId = None,
) -> dict[str, str]:
    """Return recipes as texts by name; without names, all of them."""
    return await exchange.export_recipes(
        alfred.kitchen, alfred.who(user_id), names or (), as_format
    )


@recipes_router.get("/calendar.ics", response_class=CalendarResponse)
async def calendar(
    alfred: AlfredKitchen, start: Day = "@today", end: Day = "@today+13d", user_id: UserId = None
) -> CalendarResponse:
    """Return planned meals as a calendar file."""
    return CalendarResponse(
        await exchange.export_calendar(alfred.kitchen, alfred.who(user_id), start, end)
    )


@recipes_router.get("/shopping.txt", response_class=PlainTextResponse)
async def shopping(alfred: AlfredKitchen, user_id: UserId = None) -> PlainTextResponse:
    """Return the shopping list as text, grouped as its owner likes it."""
    return PlainTextResponse(await exchange.export_shopping(alfred.kitchen, alfred.who(user_id)))


def _recipes_told(
    report: Any, written: list[WriteResult], refused: Mapping[str, str] | None = None
) -> JSONResponse:
    # A long report is written where it was read: writing it takes a while as well.
    shown = [each.model_dump(mode="json") for each in written]
    told = {"report": plain(asdict(report)), "written": shown, "refused": dict(refused or {})}
    return JSONResponse(told)


ROUTERS = (router, rows_router, recipes_router, people_router)
