"""Ledger: the book the writer keeps, the head that countersigns it, and the gaps both can tell of.

Each commit that changes a row ends with an entry about it. The head, in the user's own folder, only
moves on and is not waited for: one that is behind says nothing, one ahead tells of a loss.
"""

import fcntl
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.core.clock import Clock
from callboard.store.ledger.entries import (
    ENTRY_PURPOSE,
    HASH_BYTES,
    HEAD_PURPOSE,
    MAC_BYTES,
    BaselineReason,
    Entry,
    EntryKind,
    Seal,
    Tail,
    append_entry,
    follow_entry,
    hash_at,
    hash_before,
    newest_entry,
    read_marks,
    rows_content,
    tail_of,
    was_cut_after,
)
from callboard.store.ledger.rows import LedgerConnection, WatchedRows

_log = logging.getLogger(__name__)
_DIGITS: Final = 20
_LINE_BYTES: Final = _DIGITS + 1 + 2 * HASH_BYTES + 1 + 2 * MAC_BYTES + 1


@dataclass(frozen=True, slots=True)
class Head:
    """What a head says; `tail` is None if there is none or it cannot be believed."""

    tail: Tail | None = None
    is_damaged: bool = False


def read_head(seal: Seal) -> Head:
    """Return what the head says."""
    try:
        opened = os.open(seal.head, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return Head()
    except OSError:
        return Head(is_damaged=True)
    try:
        fcntl.flock(opened, fcntl.LOCK_SH)
        tail = _parse(os.pread(opened, _LINE_BYTES + 1, 0), seal)
    finally:
        os.close(opened)
    return Head(tail, is_damaged=tail is None)


class HeadFile:
    """Keeps the head of one database up to date."""

    def __init__(self, seal: Seal) -> None:
        """Take where it lies; the file is made when the first entry is committed."""
        self._seal = seal
        self._opened: int | None = None
        # What this process knows to be there, so that only a stranger's line is looked into.
        self._written = b""
        self._has_warned = False

    def publish(self, tail: Tail) -> None:
        """Move the head on to an entry that is committed; never back."""
        try:
            self._move_on(tail)
        except OSError as error:
            # The entry is safe; only what would tell of its loss is not.
            if not self._has_warned:
                _log.warning("the head %s was not written: %s", self._seal.head, error)
            self._has_warned = True

    def close(self) -> None:
        """Let go of the file."""
        if self._opened is not None:
            os.close(self._opened)
            self._opened = None

    def _move_on(self, tail: Tail) -> None:
        opened = self._opened
        if opened is None:
            opened = self._opened = _open(self._seal.head)
        line = _render(tail, self._seal)
        fcntl.flock(opened, fcntl.LOCK_EX)
        try:
            there = os.pread(opened, _LINE_BYTES + 1, 0)
            if there and there != self._written:
                known = _parse(there, self._seal)
                if known is not None and known.seq >= tail.seq:
                    return
            os.pwrite(opened, line, 0)
            if len(there) > _LINE_BYTES:
                os.ftruncate(opened, _LINE_BYTES)
            self._written = line
        finally:
            fcntl.flock(opened, fcntl.LOCK_UN)


def _open(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.open(path, flags, 0o600)


def _render(tail: Tail, seal: Seal) -> bytes:
    told = f"{tail.seq:0{_DIGITS}d} {tail.hash.hex()}".encode()
    return told + b" " + seal.mac(HEAD_PURPOSE, told).hex().encode() + b"\n"


def _parse(line: bytes, seal: Seal) -> Tail | None:
    told, _, mac = line.rstrip(b"\n").rpartition(b" ")
    number, _, found = told.partition(b" ")
    try:
        tail = Tail(int(number), bytes.fromhex(found.decode("ascii")))
        is_valid = seal.is_valid(HEAD_PURPOSE, told, bytes.fromhex(mac.decode("ascii")))
    except ValueError:
        return None
    return tail if is_valid else None


class Ledger:
    """Writes the entries of one process; used by whoever holds the writing connection."""

    def __init__(self, connection: WatchedRows, seal: Seal, clock: Clock) -> None:
        """Take who writes, what entries are sealed with, and the time for their readers."""
        self._connection = connection
        self._seal = seal
        self._clock = clock
        self._head = HeadFile(seal)
        # The newest entry this process knows to have been committed; None before it has looked.
        self._known: Tail | None = None
        # What the open transaction will have appended.
        self._pending: Tail | None = None

    def append(self) -> None:
        """Write the entry of the open transaction, just before it is committed."""
        connection = self._connection
        if not (touched := connection.touched()):
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
        self._connection.forget()
        if self._pending is not None:
            self._known, self._pending = self._pending, None
            self._head.publish(self._known)

    def undone(self) -> None:
        """Forget the entry of a transaction that was rolled back."""
        self._pending = None
        self._connection.forget(undone=True)

    def close(self) -> None:
        """Let go of the head."""
        self._head.close()

    def _sound_tail(self, connection: LedgerConnection, at: int) -> Tail:
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


def gap_in(connection: LedgerConnection, head: Head, tail: Tail) -> str | None:
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
    if found == head.tail.hash or (found is None and was_cut_after(connection, head.tail.seq)):
        return None
    return "replaced"


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


def head_gap(connection: LedgerConnection, head: Head, tail: Tail) -> Gap | None:
    """Return how a chain falls short of what its head knows."""
    reason = gap_in(connection, head, tail)
    if reason is None:
        return None
    known = head.tail.seq if head.tail is not None else 0
    return Gap(max(tail.seq, known) + 1, reason, known, tail.seq)


def open_gap(connection: LedgerConnection, seal: Seal, head: Head) -> Gap | None:
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


def ends_with(connection: LedgerConnection, seal: Seal) -> bool:
    """Say whether the newest entry is one this key made; a ledger without any may be begun."""
    newest = newest_entry(connection)
    if newest is None:
        return True
    return is_authentic(newest, hash_before(connection, newest.seq), seal)
