"""The audit trail: receipts, whole, with what their signature is worth."""

import asyncio

from fastapi import APIRouter
from pydantic import Field

from callboard.api.paging import Paged
from callboard.api.project import Entry, OpenStudio, Shown, Wanted
from callboard.studio.issue_shape import issue_to_json

router = APIRouter(prefix="/audit", tags=["audit"])


class ReceiptShape(Shown):
    """The signed record of one tool execution."""

    receipt_id: str
    session_id: str
    tool_id: str
    status: str
    signature_valid: bool


class LinkWanted(Wanted):
    """The issue that receipts of a session are to be linked to; none named means all of them."""

    issue_id: int = Field(ge=1, le=2**53)
    receipt_ids: list[str] | None = None


@router.get("/sessions/{session_id}/receipts")
async def session_receipts(studio: OpenStudio, session_id: str, page: Paged) -> list[ReceiptShape]:
    """List every tool execution of a session, in order."""
    found = page.cut(await asyncio.to_thread(studio.audit.receipts, session_id))
    return [ReceiptShape.model_validate(each) for each in found]


@router.post("/sessions/{session_id}/link-issue")
async def link_issue(studio: OpenStudio, session_id: str, wanted: LinkWanted) -> Entry:
    """Link receipts of a session to an issue."""
    linked = await studio.audit.link_issue(session_id, wanted.issue_id, wanted.receipt_ids)
    return issue_to_json(linked)


@router.get("/receipts/{receipt_id}")
async def show_receipt(studio: OpenStudio, receipt_id: str) -> ReceiptShape:
    """Show a receipt with the tool's whole output."""
    return ReceiptShape.model_validate(studio.audit.receipt(receipt_id))
