"""What a conversation, or somebody without one, changes in the data it is about."""

from callboard.choreography.turn.domain import Domain, Who
from callboard.choreography.turn.requests import (
    UndoResult,
    WriteKey,
    WritePreview,
    WriteRequest,
    WriteResult,
)
from callboard.operations import AGENT, USER, Does, Operations, operation
from callboard.studio.studio import Studio


def _told(result: WriteResult) -> str:
    counts = {"created": result.created, "updated": result.updated, "deleted": result.deleted}
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f"{result.table}: {told or 'nothing changed'}"


@operation(name="write", who=(USER, AGENT), undo="undo", tell=_told)
async def write_rows(
    domain: Domain,
    who: Who,
    request: WriteRequest,
    key: WriteKey,
    confirmed: WritePreview | None = None,
) -> WriteResult:
    """Create, change or delete rows; the same key is the same change."""
    return await domain.write(who, request, key, confirmed)


@operation(name="undo", does=Does.ONCE)
async def undo_rows(domain: Domain, who: Who, confirmed: WritePreview | None = None) -> UndoResult:
    """Take back the last change somebody made."""
    return await (domain.undo(who) if confirmed is None else domain.undo(who, confirmed))


def operations_on(studio: Studio, pack: str, domain: Domain) -> Operations:
    """Return what changes the data of a domain, on record."""
    return Operations(studio, pack, lambda _studio, _kind: domain)
