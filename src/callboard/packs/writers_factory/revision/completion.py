"""Completion: the writer's word that the book is done, with what was left open."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from callboard.core.canonical import Json
from callboard.core.codec import Coded
from callboard.core.errors import CallboardError, Conflict, ErrorTier
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
