"""Whether one receipt may be believed: as it is stored, and as it stands in the audit trail."""

from pathlib import Path

from callboard.core.vocabulary import Receipt
from callboard.tools.audit.mirror import MirrorLine, read_mirror, render_line
from callboard.tools.audit.receipts import is_signature_valid
from callboard.tools.audit.signing import Signer


def is_trustworthy(receipt: Receipt, signer: Signer, audit: Path) -> bool:
    """Say whether a receipt is what was signed, in the database and in its mirror.

    A mirror that lacks the receipt says nothing against it: it may not have been written yet.
    """
    return is_signature_valid(receipt, signer) and _is_mirrored_as_signed(receipt, audit)


def _is_mirrored_as_signed(receipt: Receipt, audit: Path) -> bool:
    # Looking at the text first spares reading every payload of the session.
    marks = (receipt.id, f'"seq":{receipt.seq},')
    lines = read_mirror(audit, receipt.session_id, holding=marks)
    stood_for = [line for line in lines if _stands_for(line, receipt)]
    return not stood_for or all(line.text == render_line(receipt) for line in stood_for)


def _stands_for(line: MirrorLine, receipt: Receipt) -> bool:
    if line.data is None:
        return receipt.id in line.text
    return line.data.get("receipt_id") == receipt.id or line.data.get("seq") == receipt.seq
