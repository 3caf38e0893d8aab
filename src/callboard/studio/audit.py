"""The audit trail as the doors show it: receipts of a session, one in full, linked to issues."""

from collections.abc import Sequence

from callboard.core.canonical import Json
from callboard.core.clock import iso
from callboard.core.errors import InvalidInput
from callboard.core.vocabulary import Issue, Receipt, ReceiptOutcome
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.journal.issues import issues_of_receipt
from callboard.store.journal.sessions import load_session
from callboard.studio.issues import Issues
from callboard.tools import ToolService, list_receipts, read_receipt


class Audit:
    """Reads a project's audit trail and links it to issues."""

    def __init__(self, database: Database, tools: ToolService, issues: Issues) -> None:
        """Take where receipts are kept, who can tell whether they are genuine, and the issues."""
        self._database = database
        self._tools = tools
        self._issues = issues

    def receipts(self, session_id: str) -> list[dict[str, Json]]:
        """Return all receipts of a session in their order; an unknown session is an error."""

        def read(connection: Connection) -> list[tuple[Receipt, list[int]]]:
            session = load_session(connection, session_id)
            found = list_receipts(connection, session_id=session.id)
            return [(each, issues_of_receipt(connection, each.id)) for each in found]

        return [self._shape(*each) for each in self._database.read(read)]

    def receipt(self, receipt_id: str) -> dict[str, Json]:
        """Return one receipt in full, with whether it is still what was signed."""

        def read(connection: Connection) -> tuple[Receipt, list[int]]:
            found = read_receipt(connection, receipt_id)
            return found, issues_of_receipt(connection, receipt_id)

        return self._shape(*self._database.read(read))

    async def link_issue(
        self, session_id: str, number: int, receipt_ids: Sequence[str] | None = None
    ) -> Issue:
        """Link receipts of a session to an issue: the named ones, or all of them."""
        session, own = self._database.read(lambda connection: _own(connection, session_id))
        if receipt_ids is None:
            return await self._issues.link_session(number, session)
        foreign = [each for each in receipt_ids if each not in own]
        if foreign:
            raise InvalidInput(
                f"Session {session} has no receipt {', '.join(foreign)}",
                fix="`callboard receipts list --session` shows what it has.",
                receipt_ids=foreign,
            )
        return await self._issues.link_receipts(number, receipt_ids)

    def _shape(self, receipt: Receipt, issues: list[int]) -> dict[str, Json]:
        algorithm = receipt.signature.partition(":")[0]
        return {
            "receipt_id": receipt.id,
            "session_id": receipt.session_id,
            "run_id": receipt.run_id,
            "step_id": receipt.step_key,
            "conference_id": receipt.detail.get("conference_id"),
            "agent_id": receipt.agent_id,
            "tool_id": receipt.tool,
            "nonce": receipt.nonce,
            "inputs": receipt.args,
            "status": "ok" if receipt.outcome is ReceiptOutcome.SUCCEEDED else "error",
            "outcome": receipt.outcome.value,
            "output": receipt.payload,
            "output_sha256": receipt.payload_sha256,
            "preview": receipt.preview,
            "summary": receipt.summary,
            "file_refs": list(receipt.file_refs),
            "error": receipt.error.to_json() if receipt.error is not None else None,
            "started_at": iso(receipt.created_at),
            "completed_at": iso(receipt.created_at + receipt.duration_ms),
            "seq": receipt.seq,
            "hash": receipt.hash,
            "signature": receipt.signature,
            "signature_alg": algorithm,
            "signature_valid": self._tools.is_signature_valid(receipt),
            "issue_ids": list(issues),
        }


def _own(connection: Connection, session_id: str) -> tuple[str, set[str]]:
    session = load_session(connection, session_id)
    return session.id, {each.id for each in list_receipts(connection, session_id=session.id)}
