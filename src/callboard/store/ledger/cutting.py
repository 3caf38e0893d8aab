"""Cutting: the chain begins anew with every row as it is, and what came before is taken away.

Only a database whose rows are all proven is cut, looked at within the same transaction: afterwards
nothing could tell what was altered before.
"""

from callboard.core.errors import CallboardError, ErrorTier
from callboard.store.ledger.baseline import write_baseline
from callboard.store.ledger.book import Head
from callboard.store.ledger.entries import BaselineReason, Seal, Tail, tail_of
from callboard.store.ledger.rows import LedgerConnection
from callboard.store.ledger.verification import LedgerReport, verify_ledger


class NotProven(CallboardError):
    """The database cannot be cut: not all of its rows are proven."""

    code = "not_proven"
    tier = ErrorTier.USER_FIXABLE


def require_sound(found: LedgerReport) -> None:
    """Refuse to go on if a row or an entry is not what was written, or nobody can tell."""
    if not found.is_sound:
        told = [*(flaw.message for flaw in found.flaws), *found.unproven]
        raise NotProven(
            f"The history of this database is kept: {told[0]}",
            fix="See `callboard doctor`: only what is proven may lose its history.",
            findings=len(told),
        )


def cut(connection: LedgerConnection, seal: Seal, head: Head, at: int) -> tuple[Tail, int]:
    """Return the new end of the chain, and how many entries are gone.

    `head` must have been read before.
    """
    with connection.transaction():
        require_sound(verify_ledger(connection, seal, head))
        before = tail_of(connection)
        detail = {"previous": before.hash.hex()}
        end = write_baseline(connection, seal, at, BaselineReason.CUT, detail)
        gone = connection.execute("DELETE FROM ledger WHERE seq <= ?", (before.seq,)).rowcount
    return end, gone
