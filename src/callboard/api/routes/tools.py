"""Tools: what there is, and running one directly."""

from typing import Any

from fastapi import APIRouter
from pydantic import Field

from callboard.api.project import Entry, OpenStudio, Shown, Wanted
from callboard.api.routes.audit import ReceiptShape
from callboard.tools import Policy, ToolCall

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
