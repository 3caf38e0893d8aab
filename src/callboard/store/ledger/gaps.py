"""Gaps: what a database has lost, as far as its head and its ledger can tell.

A gap stays until the user accepts the loss. What was there before it may have gone further than
the database knows.
"""

import json
import sqlite3
from dataclasses import dataclass

from callboard.store.connection import Connection
from callboard.store.ledger.baseline import BaselineReason
from callboard.store.ledger.book import gap_in
from callboard.store.ledger.entries import (
    Entry,
    EntryKind,
    Tail,
    hash_before,
    newest_entry,
    read_marks,
    tail_of,
)
from callboard.store.ledger.head import Head
from callboard.store.ledger.seal import ENTRY_PURPOSE, Seal


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that was committed and is not there; `seq` is where the ledger goes on."""

    seq: int
    reason: str
    known: int
    found: int

    def __str__(self) -> str:
        """Say it in one line."""
        match self.reason:
            case "head_damaged":
                return "the head in your data folder cannot be read: nobody knows what is missing"
            case "replaced":
                return f"entry {self.known} is not the one this machine countersigned"
            case _:
                return f"entries {self.found + 1} to {self.known} were committed and are gone"


def head_gap(connection: sqlite3.Connection, head: Head, tail: Tail) -> Gap | None:
    """Return how a chain falls short of what its head knows."""
    reason = gap_in(connection, head, tail)
    if reason is None:
        return None
    known = head.tail.seq if head.tail is not None else 0
    return Gap(max(tail.seq, known) + 1, reason, known, tail.seq)


def open_gap(connection: sqlite3.Connection, seal: Seal, head: Head) -> Gap | None:
    """Return the gap nobody has accepted yet; `head` must have been read before."""
    gap = head_gap(connection, head, tail_of(connection))
    if gap is not None:
        return gap
    for mark in read_marks(connection):
        if not is_authentic(mark, hash_before(connection, mark.seq), seal):
            continue
        content = mark.content()
        if mark.kind == EntryKind.GAP:
            return Gap(mark.seq, content["reason"], content["known"], content["found"])
        if content.get("reason") == BaselineReason.ACCEPTED:
            return None
    return None


def is_authentic(entry: Entry, previous: bytes, seal: Seal) -> bool:
    """Say whether an entry follows the one before it and carries this key's mark."""
    return (
        entry.expected_hash(previous) == entry.hash
        and entry.key_id == seal.key_id
        and seal.is_valid(ENTRY_PURPOSE, entry.hash, entry.mac)
    )


def ends_with(connection: sqlite3.Connection, seal: Seal) -> bool:
    """Say whether the newest entry is one this key made; a ledger without any may be begun."""
    newest = newest_entry(connection)
    if newest is None:
        return True
    return is_authentic(newest, hash_before(connection, newest.seq), seal)


def was_known_before(connection: Connection, value: str, seq: int) -> bool:
    """Say whether an entry before a number speaks of a row with this text in its key."""
    row = connection.execute(
        "SELECT 1 FROM ledger WHERE seq < :seq AND instr(body, :part) LIMIT 1",
        {"seq": seq, "part": json.dumps(value).encode()},
    ).fetchone()
    return row is not None
