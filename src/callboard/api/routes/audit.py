"""The audit trail: receipts, whole, with what their signature is worth."""

from fastapi import APIRouter
from pydantic import Field

from callboard.api.paging import Paged
from callboard.api.project import Entry, OpenStudio, Shown, Wanted
from callboard.choreography.recipe import iso
from callboard.core.vocabulary import Receipt, ReceiptOutcome
from callboard.studio.issue_shape import issue_to_json
from callboard.studio.studio import Studio
from callboard.tools import list_receipts, read_receipt
from callboard.tools.audit.receipts import receipt_body

router = APIRouter(prefix="/audit", tags=["audit"])


class ReceiptShape(Shown):
    """The signed record of one tool execution."""

    receipt_id: str
    session_id: str
    tool_id: str
    status: str
    signature_valid: bool


class LinkWanted(Wanted):
    """The issue that a session's receipts are to be linked to."""

    issue_id: int = Field(ge=1, le=2**53)


@router.get("/sessions/{session_id}/receipts")
async def session_receipts(studio: OpenStudio, session_id: str, page: Paged) -> list[ReceiptShape]:
    """List every tool execution of a session, in order."""
    session = studio.sessions.get(session_id)
    found = studio.database.read(
        lambda connection: list_receipts(connection, session_id=session.id)
    )
    return [receipt_shape(studio, each) for each in page.cut(found)]


@router.post("/sessions/{session_id}/link-issue")
async def link_issue(studio: OpenStudio, session_id: str, wanted: LinkWanted) -> Entry:
    """Link all receipts of a session to an issue."""
    session = studio.sessions.get(session_id)
    return issue_to_json(await studio.issues.link_session(wanted.issue_id, session.id))


@router.get("/receipts/{receipt_id}")
async def show_receipt(studio: OpenStudio, receipt_id: str) -> ReceiptShape:
    """Show a receipt with the tool's whole output."""
    found = studio.database.read(lambda connection: read_receipt(connection, receipt_id))
    return receipt_shape(studio, found)


def receipt_shape(studio: Studio, receipt: Receipt) -> ReceiptShape:
    """Return a receipt as the API shows it, with the signed body it stands for."""
    ended = receipt.created_at + receipt.duration_ms
    return ReceiptShape.model_validate(
        {
            "receipt_id": receipt.id,
            "session_id": receipt.session_id,
            "run_id": receipt.run_id,
            "step_id": receipt.step_key,
            "agent_id": receipt.agent_id,
            "tool_id": receipt.tool,
            "nonce": receipt.nonce,
            "inputs": receipt.args,
            "status": "ok" if receipt.outcome is ReceiptOutcome.SUCCEEDED else "error",
            "outcome": receipt.outcome.value,
            "output": receipt.payload,
            "output_sha256": receipt.payload_sha256,
            "file_refs": list(receipt.file_refs),
            "error": receipt.error.to_json() if receipt.error is not None else None,
            "started_at": iso(receipt.created_at),
            "completed_at": iso(ended),
            "signature": receipt.signature,
            "signature_alg": "HMAC-SHA256",
            "signature_valid": studio.tools.is_signature_valid(receipt),
            "signed": receipt_body(receipt),
        }
    )
