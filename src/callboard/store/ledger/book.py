"""Ledger: the book the writer keeps. Each commit that changes a row ends with an entry about it."""

import sqlite3
from pathlib import Path

from callboard.core.clock import Clock
from callboard.store.connection import Durability, connect_as
from callboard.store.ledger.entries import (
    EntryKind,
    Tail,
    append_entry,
    follow_entry,
    hash_at,
    rows_content,
    tail_of,
)
from callboard.store.ledger.head import Head, HeadFile, read_head
from callboard.store.ledger.seal import Seal
from callboard.store.ledger.watching import WatchedConnection


class Ledger:
    """Writes the entries of one process; used by whoever holds the writing connection."""

    def __init__(self, seal: Seal, clock: Clock) -> None:
        """Take what entries are sealed with, and the time for their readers."""
        self._seal = seal
        self._clock = clock
        self._head = HeadFile(seal)
        # The newest entry this process knows to have been committed; None before it has looked.
        self._known: Tail | None = None
        # What the open transaction will have appended.
        self._pending: Tail | None = None
        self._connection: WatchedConnection | None = None

    def connect(self, path: Path, durability: Durability) -> sqlite3.Connection:
        """Open the one connection that writes, watched from now on."""
        self._connection = connect_as(WatchedConnection, path, durability)
        self._connection.watch()
        return self._connection

    def append(self) -> None:
        """Write the entry of the open transaction, just before it is committed."""
        connection = self._connection
        if connection is None or not (touched := connection.touched()):
            return
        at, content = self._clock.now_ms(), rows_content(touched)
        if self._known is not None:
            # Mostly nobody else has written since.
            self._pending = follow_entry(connection, self._seal, at, content, self._known)
        if self._pending is None:
            tail = self._sound_tail(connection, at)
            self._pending = append_entry(
                connection, self._seal, at, EntryKind.WRITE, content, previous=tail
            )

    def committed(self) -> None:
        """Countersign what has been committed."""
        if self._connection is not None:
            self._connection.forget()
        if self._pending is not None:
            self._known, self._pending = self._pending, None
            self._head.publish(self._known)

    def undone(self) -> None:
        """Forget the entry of a transaction that was rolled back."""
        self._pending = None
        if self._connection is not None:
            self._connection.forget(undone=True)

    def close(self) -> None:
        """Let go of the head."""
        self._head.close()

    def _sound_tail(self, connection: WatchedConnection, at: int) -> Tail:
        """Return the end to go on from; if entries are lost, an entry that says so comes first."""
        # A head knows only what is committed, and whoever is here sees all that is.
        head = Head(self._known) if self._known is not None else read_head(self._seal)
        tail = tail_of(connection)
        reason = gap_in(connection, head, tail)
        if reason is None:
            return tail
        known = head.tail or Tail(0, b"")
        content = {
            "reason": reason,
            "known": known.seq,
            "hash": known.hash.hex(),
            "found": tail.seq,
        }
        return append_entry(
            connection,
            self._seal,
            at,
            EntryKind.GAP,
            content,
            previous=tail,
            # Numbers never come twice: what is lost keeps its own.
            seq=max(tail.seq, known.seq) + 1,
        )


def gap_in(connection: sqlite3.Connection, head: Head, tail: Tail) -> str | None:
    """Say how a chain falls short of what its head knows, if it does."""
    if head.is_damaged:
        return "head_damaged"
    if head.tail is None:
        return None
    if tail.seq < head.tail.seq:
        return "behind"
    if tail.seq == head.tail.seq:
        found: bytes | None = tail.hash
    else:
        found = hash_at(connection, head.tail.seq)
    return None if found == head.tail.hash else "replaced"
