"""The book as a whole: what it is called, where it stands, what the Foreman works from."""

from dataclasses import asdict
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response

from callboard.api.operations import arguments_of
from callboard.api.project import Entry, promise
from callboard.core.vocabulary import ModelTier
from callboard.packs.writers_factory.bible.operations import describe_book
from callboard.packs.writers_factory.bible.project import ProjectFacts
from callboard.packs.writers_factory.doors.routes.request import WritersFactory
from callboard.packs.writers_factory.factory import Factory

router = APIRouter(prefix="/factory", tags=["factory: state"])

_STATE: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The state, as it was asked for.",
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "application/xml": {"schema": {"type": "string"}},
            "text/plain": {"schema": {"type": "string"}},
        },
    }
}

Open = Annotated[str | None, Query(max_length=300)]


BookShape = promise(
    "BookShape",
    "The book in a few words; its id never changes.",
    ProjectFacts,
    leave=["protagonist_file"],
    mode=str,
    completion_pct=int,
)


@router.get("/project", response_model=BookShape)
async def show_project(factory: WritersFactory) -> Entry:
    """Show what the book is called, who it is about and how far it has come."""
    return _book(factory)


@router.put("/project", response_model=BookShape)
async def describe_project(
    factory: WritersFactory, given: Annotated[Entry, arguments_of(describe_book)]
) -> Entry:
    """Begin a book in this project, or change what it is called."""
    await factory.perform(describe_book, **given)
    return _book(factory)


@router.get("/state", response_class=Response, responses=_STATE)
async def show_state(
    factory: WritersFactory,
    format: Annotated[  # noqa: A002 - the word of the API
        Literal["xml", "json", "text"], Query(description="As models read it, as data, in words.")
    ] = "json",
    tier: Annotated[ModelTier, Query(description="For `xml`: which models it is for.")] = (
        ModelTier.FULL
    ),
    file: Open = None,
    chapter: Open = None,
    scene: Open = None,
    beat: Open = None,
) -> Response:
    """Show the state the Foreman works from; what the writer has open may be named."""
    opened = {"file": file, "chapter": chapter, "scene": scene, "beat": beat}
    active = {name: value for name, value in opened.items() if value}
    if format == "xml":
        return Response(factory.foreman.state_xml(active, tier), media_type="application/xml")
    if format == "text":
        return Response(factory.foreman.state_text(active), media_type="text/plain; charset=utf-8")
    return JSONResponse(factory.foreman.state_json(active))


def _book(factory: Factory) -> Entry:
    modes = factory.rooms.modes
    told = asdict(factory.rooms.bible.project())
    del told["protagonist_file"]
    return {**told, "mode": modes.current(), "completion_pct": modes.completion_pct()}
