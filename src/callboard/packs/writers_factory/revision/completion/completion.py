"""Completion: the writer's word that the book is done, and the way back.

Only the writer can say it. What is still open is told and does not stop them.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, Conflict, ErrorTier
from callboard.packs.writers_factory.ground import Ground

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
class Completion:
    """Whether the book is done, since when, and what was open when the writer said so."""

    is_complete: bool = False
    at: int | None = None
    open_errors: tuple[str, ...] = ()
    health_report: str = ""
    export: Json = None
    note: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {**asdict(self), "open_errors": list(self.open_errors)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Completion":
        """Read the stored shape."""
        shape: dict[str, Any] = {**data, "open_errors": tuple(data["open_errors"])}
        return cls(**shape)


def check_writer(by: str) -> None:
    """Refuse anybody but the writer."""
    if by != WRITER:
        raise WriterOnly(
            f"{by!r} cannot mark the manuscript complete or reopen it",
            fix="The writer says so, at the command line or in the application.",
            by=by,
        )


def read_completion(ground: Ground) -> Completion:
    """Return whether the book is done."""
    body = ground.records.get(KIND, RECORD)
    return Completion() if body is None else Completion.from_json(body)


async def keep_completion(
    ground: Ground, open_errors: Sequence[str], *, health_report: str, export: Json, note: str = ""
) -> Completion:
    """Record that the book is done."""
    done = Completion(
        is_complete=True,
        at=ground.studio.clock.now_ms(),
        open_errors=tuple(open_errors),
        health_report=health_report,
        export=export,
        note=note,
    )
    await ground.records.put(KIND, RECORD, done.to_json())
    return done


async def reopen_book(ground: Ground, *, by: str) -> Completion:
    """Take the writer's word back; what was exported stays."""
    check_writer(by)
    if not read_completion(ground).is_complete:
        raise NotComplete("The manuscript is not complete", fix="There is nothing to reopen.")
    opened = Completion()
    await ground.records.put(KIND, RECORD, opened.to_json())
    return opened
