"""What is done to send a book out or take one in, and its title page."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from callboard.library.binding.volume import FORMATS
from callboard.operations import operation
from callboard.packs.writers_factory.exchange.arrival import (
    Arrival,
    Import,
    arrival_in,
    undo_last_import,
    write_import,
)
from callboard.packs.writers_factory.exchange.export import Edition, Export, export_manuscript
from callboard.packs.writers_factory.exchange.title_page import TitlePage, change_title_page
from callboard.packs.writers_factory.workspace import Workspace

Line = Annotated[str, Field(max_length=200)]


@operation(put="/title-page")
async def set_title_page(
    workspace: Workspace,
    author: Line | None = None,
    surname: Line | None = None,
    contact: Annotated[list[Line] | None, Field(max_length=8)] = None,
    language: Annotated[str | None, Field(max_length=35)] = None,
    date: Annotated[str | None, Field(max_length=10)] = None,
    cover: Annotated[str | None, Field(max_length=500)] = None,
    cover_text: Line | None = None,
) -> TitlePage:
    """Say what stands on the title page; what is not named stays, an empty text takes it back."""
    told = {
        "author": author,
        "surname": surname,
        "contact": contact,
        "language": language,
        "date": date,
        "cover": cover,
        "cover_text": cover_text,
    }
    given = {name: value for name, value in told.items() if value is not None}
    return await change_title_page(workspace, given)


@operation()
async def export_book(
    workspace: Workspace, author: str = "", formats: tuple[str, ...] = FORMATS
) -> Export:
    """Write the manuscript as it is now; the book goes on being worked on."""
    return await export_manuscript(workspace, Edition.of(workspace, author), formats)


@dataclass(frozen=True, slots=True)
class Delivery:
    """A manuscript that lies outside the project, as it was read at the door."""

    workspace: Workspace
    arrival: Arrival


@operation(undo="undo_import")
async def import_delivery(
    delivery: Delivery, name: str, sha256: str, replace: bool = False, append: bool = False
) -> Import:
    """Make the scenes of a manuscript from outside the project scenes of the book."""
    return await write_import(delivery.workspace, delivery.arrival, replace=replace, append=append)


@operation(undo="undo_import")
async def import_manuscript(
    workspace: Workspace, path: str, replace: bool = False, append: bool = False
) -> Import:
    """Make the scenes of a file or a folder in the project scenes of the book."""
    return await write_import(
        workspace, arrival_in(workspace, path), replace=replace, append=append
    )


@operation(post="/import/undo")
async def undo_import(
    workspace: Workspace, import_id: Annotated[str, Field(max_length=100)] = ""
) -> Import:
    """Take an import back, the last one unless another is named."""
    return await undo_last_import(workspace, import_id)
