"""Editing: single edits that can be taken back, texts agents propose, and the two reports."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Query

from callboard.api.project import Entry, Paged, StartedJob, Wanted, started
from callboard.packs.writers_factory.doors.routes.request import (
    SceneId,
    SessionId,
    WritersFactory,
)
from callboard.packs.writers_factory.factory import edit_text
from callboard.packs.writers_factory.revision import (
    EditProposal,
    EditRequest,
    EditResult,
    Rewording,
    operations,
)

router = APIRouter(prefix="/factory", tags=["factory: editing"])

ProposalId = Annotated[str, Path(max_length=100)]


class AcceptWanted(Wanted):
    """Whether what the voice or the book forbids may come in with it."""

    force: bool = False


class AuditWanted(Wanted):
    """Fast checks only what code can check."""

    fast: bool = False
    session_id: SessionId = None


class ReportWanted(Wanted):
    """In which session the report is made."""

    session_id: SessionId = None


@router.post("/scenes/{scene_id}/edits", status_code=201)
async def edit_scene(factory: WritersFactory, scene_id: SceneId, wanted: Rewording) -> EditResult:
    """Replace words that stand in exactly one place of a scene."""
    factory.rooms.manuscript.scene(scene_id)
    request = EditRequest(target=scene_id, **asdict(wanted))
    return await factory.perform(edit_text, request)


@router.get("/scenes/{scene_id}/edits")
async def list_scene_edits(factory: WritersFactory, scene_id: SceneId, page: Paged) -> list[Entry]:
    """List the edits of a scene, oldest first."""
    factory.rooms.manuscript.scene(scene_id)
    return page.cut(factory.rooms.revision.edits.history(scene_id))


@router.post("/scenes/{scene_id}/edits/undo")
async def undo_scene_edit(factory: WritersFactory, scene_id: SceneId) -> EditResult:
    """Take the last edit of a scene back; asked again, the one before it."""
    factory.rooms.manuscript.scene(scene_id)
    return await factory.perform(operations.undo_edit, scene_id)


@router.post("/edits", status_code=201)
async def edit(factory: WritersFactory, wanted: EditRequest) -> EditResult:
    """Replace words in a scene or another file of the writer."""
    return await factory.perform(edit_text, wanted)


@router.get("/edits")
async def list_edits(
    factory: WritersFactory,
    page: Paged,
    target: Annotated[str, Query(min_length=1, max_length=500)],
) -> list[Entry]:
    """List the edits of a scene or a file, oldest first."""
    return page.cut(factory.rooms.revision.edits.history(target))


@router.get("/proposals")
async def list_proposals(
    factory: WritersFactory, page: Paged, only_pending: bool = True
) -> list[EditProposal]:
    """List the texts agents offer, oldest first."""
    return page.cut(factory.rooms.revision.proposals.all(pending_only=only_pending))


@router.get("/proposals/{proposal_id}")
async def show_proposal(factory: WritersFactory, proposal_id: ProposalId) -> EditProposal:
    """Show an offered text."""
    return factory.rooms.revision.proposals.get(proposal_id)


@router.post("/proposals/{proposal_id}/accept")
async def accept_proposal(
    factory: WritersFactory, proposal_id: ProposalId, wanted: AcceptWanted | None = None
) -> EditProposal:
    """Put an offered text in place, the way the present mode does it."""
    is_forced = wanted is not None and wanted.force
    mode = factory.rooms.modes.current()
    return await factory.perform(operations.accept_proposal, proposal_id, mode, is_forced)


@router.post("/audit", status_code=202)
async def audit(factory: WritersFactory, wanted: AuditWanted | None = None) -> StartedJob:
    """Check the continuity of the whole manuscript and write the report."""
    chosen = wanted or AuditWanted()
    args = {"fast": chosen.fast}
    return started(await factory.start("audit", args, session_id=chosen.session_id))


@router.post("/voice-report", status_code=202)
async def report_on_voice(
    factory: WritersFactory, wanted: ReportWanted | None = None
) -> StartedJob:
    """Measure every scene against the voice and write the report."""
    session = wanted.session_id if wanted is not None else None
    return started(await factory.start("voice_report", {}, session_id=session))
