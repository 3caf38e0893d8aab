"""The end of the book: the writer's word that it is done, the way back, and the export."""

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field

from callboard.api.bodies import FILE_TYPE
from callboard.api.project import Entry, Shown, StartedJob, Wanted, started
from callboard.operations import lending
from callboard.packs.writers_factory.doors.routes.request import (
    Note,
    SessionId,
    WritersFactory,
)
from callboard.packs.writers_factory.exchange.arrival import (
    Import,
    arrival_in,
    preview_import,
    read_arrival,
)
from callboard.packs.writers_factory.exchange.export import (
    Edition,
    Export,
    ExportPreview,
    preview_export,
)
from callboard.packs.writers_factory.exchange.operations import (
    Delivery,
    export_book,
    import_delivery,
    import_manuscript,
)
from callboard.packs.writers_factory.exchange.pieces import ImportRefused
from callboard.packs.writers_factory.exchange.title_page import TitlePage, read_title_page
from callboard.packs.writers_factory.factory import Factory, reopen_book
from callboard.tools import off_loop

router = APIRouter(prefix="/factory", tags=["factory: completion"])

Author = Annotated[str, Field(max_length=200)]
Format = Literal["md", "epub", "docx"]
FileName = Annotated[
    str,
    Query(
        min_length=1,
        max_length=200,
        description="What it is called, like `book.docx`, `scenes.zip`.",
    ),
]
_FILE: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {FILE_TYPE: {"schema": {"type": "string", "format": "binary"}}},
    }
}


class CompletionShape(Shown):
    """Whether the book is done, and what is still open."""

    is_complete: bool
    at: int | None
    open_errors: list[str]


class CompletionWanted(Wanted):
    """What stands on the title page, and what is bound; Markdown always is."""

    author: Author = ""
    formats: list[Format] = Field(default_factory=lambda: ["epub", "docx"], max_length=3)
    note: Note = ""
    session_id: SessionId = None


class ExportWanted(Wanted):
    """What is to be written; Markdown always is."""

    author: Author = ""
    formats: list[Format] = Field(default_factory=lambda: ["epub", "docx"], max_length=3)


class ManuscriptWanted(Wanted):
    """A manuscript in the project: a .docx, .md or .txt, or a folder of scenes."""

    path: Annotated[str, Field(min_length=1, max_length=500)]
    replace: bool = False
    append: bool = False


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that comes with the request, and what may become of scenes in its way."""

    request: Request
    name: FileName
    replace: bool = False
    append: bool = False


Sent = Annotated[SentFile, Depends()]


@router.get("/completion")
async def show_completion(factory: WritersFactory) -> CompletionShape:
    """Show whether the book is done, and what is open as things stand now."""
    revision = factory.rooms.revision
    told = {**revision.completion().to_json(), "open_errors": list(revision.open_errors())}
    return CompletionShape.model_validate(told)


@router.post("/complete", status_code=202)
async def complete(factory: WritersFactory, wanted: CompletionWanted | None = None) -> StartedJob:
    """Call the book done; what is open is told and does not stop the writer."""
    chosen = wanted or CompletionWanted()
    args = {**chosen.model_dump(exclude={"session_id"}), "by": "writer"}
    return started(await factory.start("finish", args, session_id=chosen.session_id))


@router.post("/reopen")
async def reopen(factory: WritersFactory) -> Entry:
    """Take a complete book up again; what was exported stays."""
    return (await factory.perform(reopen_book)).to_json()


@router.post("/export")
async def export(factory: WritersFactory, wanted: ExportWanted | None = None) -> Export:
    """Write the manuscript as it is now, as Markdown and the formats that are wanted."""
    chosen = wanted or ExportWanted()
    return await factory.perform(export_book, chosen.author, tuple(chosen.formats))


@router.post("/export/preview")
async def look_at_export(
    factory: WritersFactory, wanted: ExportWanted | None = None
) -> ExportPreview:
    """Show what an export would write, and write nothing."""
    chosen = wanted or ExportWanted()
    book = Edition.of(factory.workspace, chosen.author)
    return preview_export(factory.workspace, book, chosen.formats)


@router.get("/title-page")
async def show_title_page(factory: WritersFactory) -> TitlePage:
    """Show what stands on the title page."""
    return read_title_page(factory.workspace)


@router.post("/import/preview")
async def look_at_import(factory: WritersFactory, wanted: ManuscriptWanted) -> Import:
    """Show how a manuscript would become chapters and scenes, and write nothing."""
    arrival = arrival_in(factory.workspace, wanted.path)
    return preview_import(factory.workspace, arrival, replace=wanted.replace, append=wanted.append)


@router.post("/import")
async def take_in(factory: WritersFactory, wanted: ManuscriptWanted) -> Import:
    """Make the scenes of a manuscript scenes of the book; a place that is taken is refused."""
    return await factory.perform(import_manuscript, wanted.path, wanted.replace, wanted.append)


@router.post("/import/upload/preview", openapi_extra=_FILE)
async def look_at_upload(factory: WritersFactory, sent: Sent) -> Import:
    """Show how a file that is sent would become chapters and scenes, and keep nothing of it."""
    brought = await _brought(factory, sent)
    told = {"replace": sent.replace, "append": sent.append}
    return preview_import(factory.workspace, brought.arrival, **told)


@router.post("/import/upload", openapi_extra=_FILE)
async def upload(factory: WritersFactory, sent: Sent) -> Import:
    """Take in a file that is sent: .docx, .md, .txt, or a zipped folder of scenes."""
    brought = await _brought(factory, sent)
    with lending(brought):
        return await factory.perform(
            import_delivery, brought.arrival.name, brought.arrival.sha256, sent.replace, sent.append
        )


async def _brought(factory: Factory, sent: SentFile) -> Delivery:
    request, name = sent.request, sent.name
    kind = request.headers.get("content-type", "").strip().lower()
    if not name.isprintable():
        raise ImportRefused(f"{name!r} is no name of a file", fix="Send its own name.")
    if kind != FILE_TYPE:
        raise ImportRefused(
            f"A body of type {kind[:100]!r} is no file", fix=f"Send its bytes as {FILE_TYPE}."
        )
    # A name is what the writer is told of a file, and never a path.
    called = name.replace("\\", "/").rpartition("/")[2] or name
    return Delivery(factory.workspace, await off_loop(read_arrival, await request.body(), called))
