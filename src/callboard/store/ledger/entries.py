"""Entries: one per commit, each chained to the one before it and signed; and the seal they carry.

The hash needs no key, so that a chain can be followed by anybody; the mark beside it does, so that
only the user's key can make one. No clock decides the order: the time is for the reader.

Key and countersigned end belong to the user, outside of the project: whoever can only write into
the project can neither sign an entry nor take back what the head says.
"""

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, cast

from callboard.core.canonical import compact_json
from callboard.store.connection import Connection
from callboard.store.ledger.rows import Key

MAC_BYTES: Final = 16
ENTRY_PURPOSE: Final = b"callboard entry"
HEAD_PURPOSE: Final = b"callboard head"


@dataclass(frozen=True, slots=True)
class Seal:
    """What a database's ledger is sealed with; `key_id` names the key without telling it."""

    key: bytes = field(repr=False)
    key_id: str
    head: Path

    def mac(self, purpose: bytes, data: bytes) -> bytes:
        """Return what only the holder of the key can make; worthless for another purpose."""
        # The purpose stands in its own field of the hash, at most 16 bytes.
        return hashlib.blake2b(data, digest_size=MAC_BYTES, key=self.key, person=purpose).digest()

    def is_valid(self, purpose: bytes, data: bytes, mac: bytes) -> bool:
        """Say whether this key made exactly this mark."""
        return hmac.compare_digest(self.mac(purpose, data), mac)


HASH_BYTES: Final = 32
NO_HASH: Final = bytes(HASH_BYTES)
Touched = Mapping[str, Mapping[Key, str | None]]
"""Rows by table and primary key: their digest, or None for what is gone."""
_INSERT: Final = (
    "INSERT INTO ledger (seq, kind, at, key_id, body, hash, mac) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
# Looking and writing in one statement: this is done at every commit.
_FOLLOW: Final = (
    "INSERT INTO ledger (seq, kind, at, key_id, body, hash, mac) SELECT ?, ?, ?, ?, ?, ?, ?"
    " WHERE (SELECT MAX(seq) FROM ledger) = ?"
)
_SELECT: Final = "SELECT seq, kind, at, key_id, body, hash, mac FROM ledger"


class EntryKind(StrEnum):
    """What an entry says."""

    WRITE = "write"
    BASELINE = "baseline"
    GAP = "gap"


class BaselineReason(StrEnum):
    """Why every row was listed."""

    CREATED = "created"
    ADOPTED = "adopted"
    MIGRATED = "migrated"
    ACCEPTED = "accepted"
    # What came before it was taken away, on the user's word.
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class Tail:
    """Where a chain ends; number 0 is its beginning."""

    seq: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as it is stored."""

    seq: int
    kind: str
    at: int
    key_id: str
    body: bytes
    hash: bytes
    mac: bytes

    def expected_hash(self, previous: bytes) -> bytes:
        """Return the hash this entry must have after the one before it."""
        return _hash(previous, self.seq, self.kind, self.at, self.key_id, self.body)

    def hash_at_cut(self) -> bytes:
        """Return the hash of the entry before this one, if this is where a chain was cut."""
        if self.kind != EntryKind.BASELINE:
            return NO_HASH
        try:
            content = self.content()
            return bytes.fromhex(content["previous"]) if _is_cut(content) else NO_HASH
        except (ValueError, TypeError, KeyError):
            return NO_HASH

    def content(self) -> dict[str, Any]:
        """Return what the entry says; ValueError if it says nothing that can be read."""
        data: object = json.loads(self.body)
        if not isinstance(data, dict):
            raise ValueError("not an object")
        return cast("dict[str, Any]", data)


def tail_of(connection: Connection) -> Tail:
    """Return where the chain ends."""
    row = connection.execute("SELECT seq, hash FROM ledger ORDER BY seq DESC LIMIT 1").fetchone()
    return Tail(0, NO_HASH) if row is None else Tail(row[0], _bytes(row[1]))


def hash_at(connection: Connection, seq: int) -> bytes | None:
    """Return the hash of an entry, or None if there is no such entry."""
    row = connection.execute("SELECT hash FROM ledger WHERE seq = ?", (seq,)).fetchone()
    return None if row is None else _bytes(row[0])


def hash_before(connection: Connection, seq: int) -> bytes:
    """Return the hash of the entry before a number."""
    row = connection.execute(
        "SELECT hash FROM ledger WHERE seq < ? ORDER BY seq DESC LIMIT 1", (seq,)
    ).fetchone()
    if row is not None:
        return _bytes(row[0])
    first = oldest_entry(connection)
    return first.hash_at_cut() if first is not None and first.seq == seq else NO_HASH


def oldest_entry(connection: Connection) -> Entry | None:
    """Return the entry the chain begins with."""
    row = connection.execute(f"{_SELECT} ORDER BY seq LIMIT 1").fetchone()
    return None if row is None else _entry(row)


def was_cut_after(connection: Connection, seq: int) -> bool:
    """Say whether the chain begins with an entry that says where it was cut, after a number."""
    first = oldest_entry(connection)
    return first is not None and seq < first.seq and first.hash_at_cut() != NO_HASH


def was_known_before(connection: Connection, value: str, seq: int) -> bool:
    """Say whether an entry before a number speaks of a row with this text in its key."""
    row = connection.execute(
        "SELECT 1 FROM ledger WHERE seq < :seq AND instr(body, :part) LIMIT 1",
        {"seq": seq, "part": json.dumps(value).encode()},
    ).fetchone()
    return row is not None


def read_entries(connection: Connection) -> Iterator[Entry]:
    """Go through the chain from its beginning."""
    for row in connection.execute(f"{_SELECT} ORDER BY seq"):
        yield _entry(row)


def newest_entry(connection: Connection) -> Entry | None:
    """Return the entry the chain ends with."""
    row = connection.execute(f"{_SELECT} ORDER BY seq DESC LIMIT 1").fetchone()
    return None if row is None else _entry(row)


def read_marks(connection: Connection) -> Iterator[Entry]:
    """Go through the entries that say more than which rows were written, newest first."""
    # In these words, so that the index over such entries is used.
    for row in connection.execute(f"{_SELECT} WHERE kind <> 'write' ORDER BY seq DESC"):
        yield _entry(row)


def append_entry(
    connection: Connection,
    seal: Seal,
    at: int,
    kind: EntryKind,
    content: Mapping[str, Any],
    *,
    previous: Tail,
    seq: int | None = None,
) -> Tail:
    """Append an entry within the caller's transaction and return the new end."""
    number = previous.seq + 1 if seq is None else seq
    row, tail = _sealed(seal, at, kind, content, previous, number)
    connection.execute(_INSERT, row)
    return tail


def follow_entry(
    connection: Connection,
    seal: Seal,
    at: int,
    content: Mapping[str, Any],
    previous: Tail,
) -> Tail | None:
    """Append what was written, if the chain still ends where it is thought to; else None."""
    row, tail = _sealed(seal, at, EntryKind.WRITE, content, previous, previous.seq + 1)
    return tail if connection.execute(_FOLLOW, (*row, previous.seq)).rowcount == 1 else None


def _sealed(
    seal: Seal, at: int, kind: EntryKind, content: Mapping[str, Any], previous: Tail, seq: int
) -> tuple[tuple[Any, ...], Tail]:
    body = compact_json(content).encode()
    found = _hash(previous.hash, seq, kind, at, seal.key_id, body)
    mac = seal.mac(ENTRY_PURPOSE, found)
    return (seq, kind.value, at, seal.key_id, body, found, mac), Tail(seq, found)


def rows_content(touched: Touched) -> dict[str, Any]:
    """Return touched rows as an entry has them."""
    return {
        "rows": {
            table: [[*key, digest] for key, digest in rows.items()]
            for table, rows in touched.items()
        }
    }


def _hash(previous: bytes, seq: int, kind: str, at: int, key_id: str, body: bytes) -> bytes:
    # Neither a kind nor a key id holds a bar, and the body comes last: one reading only.
    head = f"|{seq}|{kind}|{at}|{key_id}|".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(previous + head + body, digest_size=HASH_BYTES).digest()


def _entry(row: Any) -> Entry:
    body, found, mac = (_bytes(each) for each in tuple(row)[4:7])
    return Entry(row[0], _text(row[1]), _number(row[2]), _text(row[3]), body, found, mac)


def _is_cut(content: Mapping[str, Any]) -> bool:
    return content.get("reason") == BaselineReason.CUT


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _text(value: object) -> str:
    # Somebody may have put anything there: it is shown and compared, never believed.
    return value if isinstance(value, str) else repr(value)


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else repr(value).encode("utf-8", "surrogatepass")
