"""The head: the number and hash of the newest entry, countersigned, in the user's own folder.

It only ever moves on, whoever writes it. It is written after the commit and not waited for: a head
that is behind its database says nothing against it, one that is ahead says that something is lost.
"""

import fcntl
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.store.ledger.entries import HASH_BYTES, Tail
from callboard.store.ledger.seal import HEAD_PURPOSE, MAC_BYTES, Seal

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
