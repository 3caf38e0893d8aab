"""Receipts: from a draft to a signed link in a session's chain, and back from the store.

`seal` touches nothing but its connection, so that a receipt is committed together with the step
it belongs to, and may be run again when that transaction is repeated. The signed text is stored
as it was signed; the columns beside it only help to find it.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from callboard.core.canonical import Json, canonical_json, digest_bytes
from callboard.core.errors import ErrorRecord, NotFound
from callboard.core.vocabulary import Receipt, ReceiptOutcome
from callboard.core.vocabulary.run import ExecutionRecord
from callboard.store.blobs import get_blob, put_blob
from callboard.store.database import Connection
from callboard.store.journal.encoding import row_of
from callboard.tools.audit.signing import Signer

SHAPE_VERSION: Final = 1
RECEIPT_PURPOSE: Final = "receipt"
HEAD_PURPOSE: Final = "receipt head"
_INLINE_PAYLOAD_CHARS: Final = 4_096


@dataclass(frozen=True, slots=True)
class ReceiptDraft(ExecutionRecord):
    """One execution, ready to be sealed; `payload_json` is its canonical text."""

    payload_json: str = "null"


def seal(connection: Connection, draft: ReceiptDraft, signer: Signer) -> Receipt:
    """Append a draft to its session's chain within the caller's transaction."""
    # One statement claims the next number: it locks the head's row on every database.
    head = connection.execute(
        "INSERT INTO receipt_heads (session_id, seq, hash, signature)"
        " VALUES (:session_id, 1, '', '')"
        " ON CONFLICT (session_id) DO UPDATE SET seq = receipt_heads.seq + 1"
        " RETURNING seq, hash, signature",
        {"session_id": draft.session_id},
    ).fetchone()
    seq, previous_hash = int(head["seq"]), str(head["hash"])
    detail = dict(draft.detail)
    if seq > 1 and not signer.is_valid(
        HEAD_PURPOSE, head_text(draft.session_id, seq - 1, previous_hash), head["signature"]
    ):
        # A new signature must not make an altered chain look sound again.
        detail["chain_warning"] = "the head before this receipt was not signed by this key"
    payload = draft.payload_json.encode("utf-8")
    body = canonical_json(_body(draft, seq, previous_hash, digest_bytes(payload), detail))
    body_hash = digest_bytes(body.encode("utf-8"))
    row: dict[str, Any] = {
        "id": draft.id,
        "session_id": draft.session_id,
        "seq": seq,
        "tool": draft.tool,
        "outcome": draft.outcome.value,
        "run_id": draft.run_id,
        "created_at": draft.created_at,
        "body": body,
        "payload": draft.payload_json,
        "hash": body_hash,
        "signature": signer.sign(RECEIPT_PURPOSE, body),
    }
    if len(payload) > _INLINE_PAYLOAD_CHARS:
        put_blob(connection, payload)
        row["payload"] = None
    connection.execute(
        "INSERT INTO receipts (id, session_id, seq, tool, outcome, run_id, created_at, body,"
        " payload, hash, signature) VALUES (:id, :session_id, :seq, :tool, :outcome, :run_id,"
        " :created_at, :body, :payload, :hash, :signature)",
        row,
    )
    connection.execute(
        "UPDATE receipt_heads SET hash = :hash, signature = :signature"
        " WHERE session_id = :session_id",
        {
            "session_id": draft.session_id,
            "hash": body_hash,
            "signature": signer.sign(HEAD_PURPOSE, head_text(draft.session_id, seq, body_hash)),
        },
    )
    return receipt_from_body(
        json.loads(body), json.loads(draft.payload_json), body_hash, row["signature"]
    )


def read_receipt(connection: Connection, receipt_id: str) -> Receipt:
    """Return a receipt with its full payload."""
    row = connection.execute("SELECT * FROM receipts WHERE id = :id", {"id": receipt_id}).fetchone()
    if row is None:
        raise NotFound(
            f"There is no receipt {receipt_id} in this project",
            fix="See `callboard receipts list`.",
        )
    return receipt_from_row(connection, row)


def read_body(connection: Connection, receipt_id: str) -> dict[str, Json] | None:
    """Return the signed part of a receipt, without its payload, or None if there is no such one."""
    row = connection.execute(
        "SELECT body FROM receipts WHERE id = :id", {"id": receipt_id}
    ).fetchone()
    return None if row is None else json.loads(row["body"])


def list_receipts(
    connection: Connection,
    *,
    session_id: str | None = None,
    run_id: str | None = None,
    after_seq: int = 0,
) -> list[Receipt]:
    """Return receipts in the order of their chains."""
    wanted = {"session_id": session_id, "run_id": run_id}
    params = {name: value for name, value in wanted.items() if value is not None}
    where = "".join(f" AND {name} = :{name}" for name in params)
    rows = connection.execute(
        f"SELECT * FROM receipts WHERE seq > :after_seq{where} ORDER BY session_id, seq",  # noqa: S608 - fixed column names
        {**params, "after_seq": after_seq},
    )
    return [receipt_from_row(connection, row) for row in rows]


def is_signature_valid(receipt: Receipt, signer: Signer) -> bool:
    """Say whether a receipt is, to the letter, what this project's key once signed."""
    try:
        body = canonical_json(receipt_body(receipt))
        payload = canonical_json(receipt.payload).encode("utf-8")
    except (ValueError, TypeError):
        return False
    return (
        digest_bytes(payload) == receipt.payload_sha256
        and digest_bytes(body.encode("utf-8")) == receipt.hash
        and signer.is_valid(RECEIPT_PURPOSE, body, receipt.signature)
    )


def receipt_to_json(receipt: Receipt) -> dict[str, Json]:
    """Return the shape that the mirror and the doors show: the signed body and what proves it."""
    return {
        **receipt_body(receipt),
        "payload": receipt.payload,
        "hash": receipt.hash,
        "signature": receipt.signature,
    }


def receipt_from_json(data: dict[str, Any]) -> Receipt:
    """Read that shape; a missing key or a wrong kind of value is a ValueError."""
    body = {name: data[name] for name in data if name not in ("payload", "hash", "signature")}
    try:
        return receipt_from_body(body, data["payload"], str(data["hash"]), str(data["signature"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a receipt: {error}") from error


@row_of("receipts", "id")
def receipt_from_row(connection: Connection, row: Any) -> Receipt:
    """Read a stored receipt: what was signed counts, not the columns."""
    body = json.loads(row["body"])
    text = row["payload"]
    if text is None:
        text = get_blob(connection, body["payload_sha256"]).decode("utf-8")
    return receipt_from_body(body, json.loads(text), row["hash"], row["signature"])


def head_text(session_id: str, seq: int, head_hash: str) -> str:
    """Return what the signature of a chain's head covers."""
    return canonical_json([session_id, seq, head_hash])


def receipt_body(receipt: Receipt) -> dict[str, Json]:
    """Return what the hash and the signature of a receipt cover."""
    return _body(
        receipt, receipt.seq, receipt.previous_hash, receipt.payload_sha256, receipt.detail
    )


def receipt_from_body(
    body: dict[str, Any], payload: Json, body_hash: str, signature: str
) -> Receipt:
    """Build a receipt from its signed part and what stands beside it."""
    return Receipt(
        id=body["receipt_id"],
        session_id=body["session_id"],
        seq=body["seq"],
        tool=body["tool"],
        args=body["args"],
        outcome=ReceiptOutcome(body["outcome"]),
        payload=payload,
        payload_sha256=body["payload_sha256"],
        preview=body["preview"],
        summary=body["summary"],
        file_refs=tuple(body["file_refs"]),
        error=ErrorRecord.from_json(body["error"]) if body["error"] else None,
        agent_id=body["agent_id"],
        run_id=body["run_id"],
        step_key=body["step_key"],
        nonce=body["nonce"],
        created_at=body["created_at"],
        duration_ms=body["duration_ms"],
        previous_hash=body["previous_hash"],
        hash=body_hash,
        signature=signature,
        detail=body["detail"],
    )


def _body(
    source: ExecutionRecord,
    seq: int,
    previous_hash: str,
    payload_sha256: str,
    detail: dict[str, Json],
) -> dict[str, Json]:
    return {
        "version": SHAPE_VERSION,
        "receipt_id": source.id,
        "session_id": source.session_id,
        "seq": seq,
        "tool": source.tool,
        "args": source.args,
        "outcome": source.outcome.value,
        "payload_sha256": payload_sha256,
        "preview": source.preview,
        "summary": source.summary,
        "file_refs": list(source.file_refs),
        "error": None if source.error is None else source.error.to_json(),
        "agent_id": source.agent_id,
        "run_id": source.run_id,
        "step_key": source.step_key,
        "nonce": source.nonce,
        "created_at": source.created_at,
        "duration_ms": source.duration_ms,
        "previous_hash": previous_hash,
        "detail": detail,
    }
