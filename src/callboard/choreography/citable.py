"""What a reply on a stage may cite: project files, the slots it was shown, receipts, issues."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Receipt, ReceiptOutcome
from callboard.replies.evidence import SourceFile, SourceReceipt
from callboard.store.connection import Connection
from callboard.studio.studio import Studio
from callboard.tools import ToolError, read_receipt


@dataclass(frozen=True, slots=True)
class SlotText:
    """A slot as the agent was shown it; a pointer's receipt can be cited too."""

    text: str
    receipt_id: str | None = None


class StageSources:
    """The sources of one reply; reads files and receipts when they are asked for."""

    def __init__(
        self,
        studio: Studio,
        session_id: str,
        slots: Mapping[str, SlotText],
        kind_of: Callable[[str], str],
    ) -> None:
        """Take where receipts must come from, what the agent saw, and what files are to a pack."""
        self.session_id = session_id
        self._studio = studio
        self._slots = slots
        self._kind_of = kind_of

    def file(self, path: str) -> SourceFile | None:
        """Return a file of the project; hidden ones and those outside are not there."""
        try:
            resolved = self._studio.tools.files.resolve(path)
            if any(part.startswith(".") for part in resolved.split("/")):
                return None
            found = self._studio.tools.files.read_text(resolved)
        except ToolError:
            return None
        return SourceFile(found.path, found.text, self._kind_of(found.path))

    def slot(self, name: str) -> str | None:
        """Return what the agent was shown of a slot."""
        shown = self._slots.get(name)
        return shown.text if shown is not None else None

    def receipt(self, receipt_id: str) -> SourceReceipt | None:
        """Return a receipt of any session, with what may be said for it."""
        found = self.stored_receipt(receipt_id)
        if not isinstance(found, Receipt):
            return found
        return SourceReceipt(
            found.id,
            found.tool,
            found.session_id,
            is_signature_valid=self._studio.tools.is_signature_valid(found),
            has_succeeded=found.outcome is ReceiptOutcome.SUCCEEDED,
            told=_told(found),
        )

    def stored_receipt(self, receipt_id: str) -> Receipt | SourceReceipt | None:
        """Return the receipt itself, or no more than its place if it is past reading."""

        def read(connection: Connection) -> Receipt | SourceReceipt | None:
            row = connection.execute(
                "SELECT tool, session_id FROM receipts WHERE id = :id", {"id": receipt_id}
            ).fetchone()
            if row is None:
                return None
            try:
                receipt = read_receipt(connection, receipt_id)
            except (CallboardError, ValueError, KeyError, TypeError, AttributeError):
                # Somebody's hands were in the database; what is left is not evidence.
                return SourceReceipt(
                    receipt_id, row["tool"], row["session_id"], is_signature_valid=False
                )
            if receipt.id != receipt_id:
                return SourceReceipt(
                    receipt_id, row["tool"], row["session_id"], is_signature_valid=False
                )
            return receipt

        return self._studio.database.read(read)

    def has_issue(self, number: int) -> bool:
        """Say whether there is such an issue."""
        return self._studio.issues.exists(number)


def _told(receipt: Receipt) -> str | None:
    """Return what a tool found in words; nothing if it looked for faults and found none."""
    payload: Any = receipt.payload
    listed = cast("dict[str, Any]", payload).get("findings") if isinstance(payload, dict) else None
    if isinstance(listed, list) and not listed:
        return None
    return f"{receipt.preview}\n{receipt.summary}"
