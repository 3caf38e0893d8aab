"""Tools: what there is, and running one directly; and their receipts, with what each is worth."""

import asyncio
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from callboard.api.project import Entry, OpenStudio, Paged, Shown, Wanted
from callboard.operations.runtime import link_session, runtime
from callboard.studio.issues import issue_to_json
from callboard.tools import Policy, ToolCall

audit_router = APIRouter(prefix="/audit", tags=["audit"])


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


@audit_router.get("/sessions/{session_id}/receipts")
async def session_receipts(studio: OpenStudio, session_id: str, page: Paged) -> list[ReceiptShape]:
    """List every tool execution of a session, in order."""
    found = page.cut(await asyncio.to_thread(studio.audit.receipts, session_id))
    return [ReceiptShape.model_validate(each) for each in found]


@audit_router.post("/sessions/{session_id}/link-issue")
async def link_issue(studio: OpenStudio, session_id: str, wanted: LinkWanted) -> Entry:
    """Link receipts of a session to an issue."""
    session = studio.sessions.get(session_id).id
    linked = await runtime(studio).perform_in(
        session, link_session, session, wanted.issue_id, wanted.receipt_ids
    )
    return issue_to_json(linked)


@audit_router.get("/receipts/{receipt_id}")
async def show_receipt(studio: OpenStudio, receipt_id: str) -> ReceiptShape:
    """Show a receipt with the tool's whole output."""
    return ReceiptShape.model_validate(studio.audit.receipt(receipt_id))


router = APIRouter(prefix="/tools", tags=["tools"])


class ToolShape(Shown):
    """A tool and the arguments it takes."""

    id: str
    description: str


class ToolWanted(Wanted):
    """Arguments for one execution."""

    args: dict[str, Any] = Field(default_factory=dict[str, Any])
    session_id: str | None = None
    dry_run: bool = False


class ToolRan(Shown):
    """What a tool found or did."""

    receipt: ReceiptShape
    payload: Entry
    preview: str
    summary: str


@router.get("")
async def list_tools(studio: OpenStudio) -> list[ToolShape]:
    """List the tools with the schemas of their arguments."""
    return [ToolShape.model_validate(each) for each in studio.tools.registry.catalogue()]


@router.post("/{tool_id}/run")
async def run_tool(studio: OpenStudio, tool_id: str, wanted: ToolWanted) -> ToolRan:
    """Run a tool as the user; it leaves a receipt, whatever comes of it."""
    studio.tools.registry.get(tool_id)
    sessions = studio.sessions
    session = sessions.get(wanted.session_id) if wanted.session_id else await sessions.current()
    args = {**wanted.args, "dry_run": True} if wanted.dry_run else wanted.args
    ran = await studio.tools.run(
        ToolCall(tool_id, args, session.id), Policy(None, studio.allowed_tools)
    )
    result = ran.execution.unwrap()
    return ToolRan(
        receipt=ReceiptShape.model_validate(studio.audit.receipt(ran.receipt.id)),
        payload=result.payload,
        preview=result.preview,
        summary=result.summary,
    )
