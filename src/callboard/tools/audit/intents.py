"""Intents: calls that have begun, on record before they act.

A call outside of a run has no step that would tell of it. So what it is about to do is stored
first; its receipt takes the place of that in one transaction. What a dead process left behind
becomes a receipt whose outcome is unknown.
"""

import json
import logging
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from callboard.core.canonical import canonical_json
from callboard.core.errors import ErrorRecord, ErrorTier
from callboard.core.vocabulary import ReceiptOutcome
from callboard.store.connection import Connection
from callboard.store.journal.encoding import RowDamaged, row_of
from callboard.tools.audit.receipts import ReceiptDraft

_log = logging.getLogger(__name__)

IsAlive = Callable[[Connection, str], bool]
"""Says whether the process with an id still lives."""


def store_intent(connection: Connection, draft: ReceiptDraft, process_id: str) -> None:
    """Put a call on record that is about to act."""
    body = {**asdict(draft), "outcome": draft.outcome.value, "error": None}
    connection.execute(
        "INSERT INTO tool_intents (id, process_id, session_id, created_at, body)"
        " VALUES (:id, :process_id, :session_id, :created_at, :body)",
        {
            "id": draft.id,
            "process_id": process_id,
            "session_id": draft.session_id,
            "created_at": draft.created_at,
            "body": canonical_json(body),
        },
    )


def drop_intent(connection: Connection, receipt_id: str) -> None:
    """Take a call off that record, in the transaction that seals its receipt."""
    connection.execute("DELETE FROM tool_intents WHERE id = :id", {"id": receipt_id})


def open_intents(connection: Connection) -> list[ReceiptDraft]:
    """Return the calls that have begun and not ended, the oldest first."""
    return _drafts(_rows(connection))


def abandoned_intents(connection: Connection, is_alive: IsAlive) -> list[ReceiptDraft]:
    """Return the drafts of calls whose process is gone: what became of them is unknown."""
    gone = [row for row in _rows(connection) if not is_alive(connection, row["process_id"])]
    return [replace(draft, error=_interrupted()) for draft in _drafts(gone)]


def _rows(connection: Connection) -> list[Any]:
    return connection.execute("SELECT * FROM tool_intents ORDER BY created_at, id").fetchall()


def _drafts(rows: list[Any]) -> list[ReceiptDraft]:
    drafts: list[ReceiptDraft] = []
    for row in rows:
        try:
            drafts.append(_draft(row))
        except RowDamaged as error:
            # It stays where it is, for the ledger to name; the project opens all the same.
            _log.warning("a call that has begun cannot be read: %s", error)
    return drafts


@row_of("tool_intents", "id")
def _draft(row: Any) -> ReceiptDraft:
    data: dict[str, Any] = json.loads(row["body"])
    data["outcome"] = ReceiptOutcome(data["outcome"])
    data["file_refs"] = tuple(data["file_refs"])
    return ReceiptDraft(**data)


def _interrupted() -> ErrorRecord:
    return ErrorRecord(
        "tool_interrupted",
        "The process that made this call ended before it could say what became of it",
        ErrorTier.USER_FIXABLE,
        "Look whether it took effect before you make the call again.",
        {},
    )
