"""Completion: the manuscript is marked complete and exported with what was left open."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from callboard.core.canonical import Json, composed
from callboard.core.codec import Coded
from callboard.core.errors import CallboardError, Conflict, ErrorTier, InvalidInput
from callboard.packs.writers_factory.revision.binding import (
    FORMATS,
    BindingFailed,
    Node,
    bind,
    blocks_of,
    header,
    scene_break,
)
from callboard.packs.writers_factory.revision.facts import BookScene, StoryFacts
from callboard.packs.writers_factory.workspace import Workspace

KIND: Final = "completion"
RECORD: Final = "manuscript"
WRITER: Final = "writer"


class WriterOnly(CallboardError):
    """Only the writer may do this."""

    code = "writer_only"
    tier = ErrorTier.PERMANENT


class NotComplete(Conflict):
    """A book was to be opened again that is not closed."""

    code = "not_complete"


@dataclass(frozen=True, slots=True)
class Completion(Coded):
    """Whether the book is done, since when, and what was open when the writer said so."""

    is_complete: bool = False
    at: int | None = None
    open_errors: tuple[str, ...] = ()
    health_report: str = ""
    export: Json = None
    note: str = ""


def check_writer(by: str) -> None:
    """Refuse anybody but the writer."""
    if by != WRITER:
        raise WriterOnly(
            f"{by!r} cannot mark the manuscript complete or reopen it",
            fix="The writer says so, at the command line or in the application.",
            by=by,
        )


def read_completion(workspace: Workspace) -> Completion:
    """Return whether the book is done."""
    body = workspace.records.get(KIND, RECORD)
    return Completion() if body is None else Completion.from_json(body)


async def keep_completion(
    workspace: Workspace,
    open_errors: Sequence[str],
    *,
    health_report: str,
    export: Json,
    note: str = "",
) -> Completion:
    """Record that the book is done."""
    done = Completion(
        is_complete=True,
        at=workspace.studio.clock.now_ms(),
        open_errors=tuple(open_errors),
        health_report=health_report,
        export=export,
        note=note,
    )
    await workspace.records.put(KIND, RECORD, done.to_json())
    return done


async def reopen_book(workspace: Workspace, *, by: str) -> Completion:
    """Take the writer's word back; what was exported stays."""
    check_writer(by)
    if not read_completion(workspace).is_complete:
        raise NotComplete("The manuscript is not complete", fix="There is nothing to reopen.")
    opened = Completion()
    await workspace.records.put(KIND, RECORD, opened.to_json())
    return opened


EXPORT: Final = "content/Export"
_BREAK: Final = "* * *"
_UNSAFE: Final = re.compile(r"[^\w\-]+")


class NothingToExport(Conflict):
    """No scene is written yet."""

    code = "nothing_to_export"


@dataclass(frozen=True, slots=True)
class BookFacts:
    """What stands on the title page."""

    title: str
    author: str = ""
    language: str = "en"
    identifier: str = ""

    @classmethod
    def of(cls, story: StoryFacts, author: str = "") -> "BookFacts":
        """Take them from the story; an author who is named goes before the one on record."""
        return cls(story.title, author or story.author, identifier=story.project_id)


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file of the export, by its place in the project."""

    path: str
    format: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Export(Coded):
    """What was exported, and what could not be."""

    files: tuple[ExportedFile, ...]
    scenes: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


async def export_manuscript(
    workspace: Workspace,
    facts: BookFacts,
    scenes: Sequence[BookScene],
    formats: Sequence[str] = tuple(FORMATS),
) -> Export:
    """Write the manuscript; a format that fails is a warning, Markdown is always there."""
    unknown = sorted(set(formats) - {*FORMATS, "md"})
    if unknown:
        raise InvalidInput(
            f"{', '.join(unknown)} is no format of a book", fix="There are md, epub and docx."
        )
    written = [scene for scene in scenes if scene.text.strip()]
    if not written:
        raise NothingToExport(
            "There is no scene to export", fix="Write a scene first; planned ones have no text."
        )
    stem = file_stem(facts.title)
    markdown = markdown_of(facts, written).encode("utf-8", "replace")
    files = [_write(workspace, f"{EXPORT}/{stem}.md", "md", markdown)]
    warnings: list[str] = []
    named = {
        "title": facts.title,
        "author": facts.author,
        "lang": facts.language,
        "identifier": facts.identifier,
    }
    blocks = tree_of(written)
    for suffix in dict.fromkeys(each for each in formats if each in FORMATS):
        try:
            data = await bind(blocks, named, suffix)
        except BindingFailed as error:
            warnings.append(error.message)
            continue
        files.append(_write(workspace, f"{EXPORT}/{stem}.{suffix}", suffix, data))
    return Export(
        tuple(files),
        tuple(scene.meta.scene_id for scene in written),
        tuple(scene.meta.scene_id for scene in scenes if not scene.text.strip()),
        tuple(warnings),
    )


def markdown_of(facts: BookFacts, scenes: Sequence[BookScene]) -> str:
    """Return the book as one Markdown text; the scenes stand in it as they were written."""
    parts = [f"# {_one_line(facts.title)}"]
    if facts.author.strip():
        parts.append(f"*{_one_line(facts.author)}*")
    chapter: int | None = None
    for scene in scenes:
        if scene.meta.chapter != chapter:
            chapter = scene.meta.chapter
            parts.append(f"## Chapter {chapter}")
        else:
            parts.append(_BREAK)
        parts.append(scene.text.strip("\n"))
    return "\n\n".join(parts) + "\n"


def tree_of(scenes: Sequence[BookScene]) -> list[Node]:
    """Return the book as blocks."""
    blocks: list[Node] = []
    chapter: int | None = None
    for scene in scenes:
        if scene.meta.chapter != chapter:
            chapter = scene.meta.chapter
            blocks.append(header(1, f"Chapter {chapter}", f"chapter-{chapter}"))
        else:
            blocks.append(scene_break())
        blocks += blocks_of(scene.text)
    return blocks


def file_stem(title: str) -> str:
    """Return a file name for a book, whatever it is called."""
    plain = composed(title)
    return _UNSAFE.sub("_", plain).strip("_")[:80] or "Manuscript"


def _write(workspace: Workspace, path: str, kind: str, data: bytes) -> ExportedFile:
    """Put a file in place in one motion; a link on the way is refused like everywhere."""
    written = workspace.files.write_bytes(path, data, is_derived=True)
    return ExportedFile(written.path, kind, written.sha256, written.size_bytes)


def _one_line(text: str) -> str:
    return " ".join(text.split())
