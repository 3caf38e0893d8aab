"""The audit trail: signed, chained receipts in the database, their mirror, and their checking."""

from callboard.tools.audit.folder import Trail
from callboard.tools.audit.mirror import sync_mirror
from callboard.tools.audit.receipts import (
    ReceiptDraft,
    is_signature_valid,
    list_receipts,
    read_receipt,
    receipt_to_json,
    seal,
)
from callboard.tools.audit.signing import Signer
from callboard.tools.audit.verification import Flaw, Verification, verify

__all__ = [
    "Flaw",
    "ReceiptDraft",
    "Signer",
    "Trail",
    "Verification",
    "is_signature_valid",
    "list_receipts",
    "read_receipt",
    "receipt_to_json",
    "seal",
    "sync_mirror",
    "verify",
]
