"""Verification: is the audit trail what this project's key signed, complete and in order?

Looks at the database and at the mirror, changes neither, and names every flaw it finds.
"""

import json
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, cast

from callboard.core.canonical import canonical_json, digest_bytes
from callboard.core.errors import NotFound
from callboard.store.blobs import get_blob
from callboard.store.connection import StoreCorrupt
from callboard.store.database import Connection, Database
from callboard.tools.audit.folder import Trail, mirrored_sessions
from callboard.tools.audit.intents import open_intents
from callboard.tools.audit.mirror import MirrorLine, read_mirror
from callboard.tools.audit.receipts import (
    HEAD_PURPOSE,
    RECEIPT_PURPOSE,
    head_text,
)
from callboard.tools.audit.signing import Signer

_COLUMNS: Final = ("session_id", "seq", "tool", "outcome", "run_id", "created_at")


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing that is not as it was signed; `where` is `database`, `mirror` or `secret`."""

    code: str
    message: str
    where: str
    session_id: str = ""
    seq: int | None = None
    receipt_id: str | None = None


@dataclass(frozen=True, slots=True)
class Verification:
    """What was looked at and what was found; `notes` are harmless."""

    sessions: tuple[str, ...]
    receipts: int
    mirror_lines: int
    flaws: tuple[Flaw, ...]
    notes: tuple[str, ...]
    signature_valid: dict[str, bool]

    @property
    def is_sound(self) -> bool:
        """Whether nothing was found."""
        return not self.flaws


def verify(database: Database, trail: Trail, session_id: str | None = None) -> Verification:
    """Check one session's audit trail, or all of them."""
    sessions = sorted({*mirrored_sessions(trail.folder), *database.read(_stored_sessions)})
    if session_id is not None:
        if session_id not in sessions:
            raise NotFound(
                f"Session {session_id} has no receipts", fix="See `callboard receipts list`."
            )
        sessions = [session_id]
    work = _TrailWork(Signer(trail), sessions)
    work.check_secret()
    for each in sessions:
        # The mirror first: its lines were committed before, so the snapshot must hold them.
        lines = list(read_mirror(trail.folder, each))
        try:
            hashes = database.read(partial(work.check_database, session_id=each))
        except (ValueError, TypeError, KeyError, AttributeError, StoreCorrupt) as error:
            # Somebody put there what no code of ours can have written.
            told = f"database, session {each}: cannot be read: {error}"
            work.flaws.append(Flaw("receipt_changed", told, "database", each))
            continue
        work.check_mirror(each, lines, hashes)
    for begun in database.read(open_intents):
        work.notes.append(
            f"call {begun.id} of {begun.tool} with {canonical_json(begun.args)[:200]} has begun and"
            " not ended; if its process is gone, it is put on record when the project is opened"
        )
    return work.report()


@dataclass(slots=True)
class _TrailWork:
    signer: Signer
    sessions: list[str]
    flaws: list[Flaw] = field(default_factory=list[Flaw])
    notes: list[str] = field(default_factory=list[str])
    valid: dict[str, bool] = field(default_factory=dict[str, bool])
    mirror_lines: int = 0

    def report(self) -> Verification:
        return Verification(
            tuple(self.sessions),
            len(self.valid),
            self.mirror_lines,
            tuple(self.flaws),
            tuple(self.notes),
            self.valid,
        )

    def check_secret(self) -> None:
        if self.sessions and not self.signer.has_key:
            message = f"the signing key {self.signer.path} is gone: no signature can be checked"
            self.flaws.append(Flaw("secret_missing", message, "secret"))
        elif not self.signer.is_private():
            self.notes.append(f"{self.signer.path} can be read by others; set its mode to 0600")

    def check_database(self, connection: Connection, session_id: str) -> dict[int, str]:
        hashes = self._check_chain(connection, session_id)
        self._check_head(connection, session_id, hashes)
        return hashes

    def _check_chain(self, connection: Connection, session_id: str) -> dict[int, str]:
        hashes: dict[int, str] = {}
        expected_seq, previous_hash = 1, ""
        rows = connection.execute(
            "SELECT * FROM receipts WHERE session_id = :session_id ORDER BY seq",
            {"session_id": session_id},
        )
        for row in rows:
            seq = int(row["seq"])
            flaw = _Flawed(self.flaws, "database", session_id, seq, row["id"])
            if seq != expected_seq:
                flaw.add("receipt_removed", f"{_range(expected_seq, seq - 1)} missing before it")
            body = _load(row["body"])
            self.valid[row["id"]] = self._is_row_sound(connection, row, body, flaw)
            if seq == expected_seq and body.get("previous_hash") != previous_hash:
                flaw.add("chain_broken", "does not follow the receipt before it")
            detail: Any = body.get("detail")
            if isinstance(detail, dict) and "chain_warning" in detail:
                flaw.add("chain_warning", f"when it was sealed, {detail['chain_warning']}")
            hashes[seq] = previous_hash = row["hash"]
            expected_seq = seq + 1
        return hashes

    def _is_row_sound(
        self, connection: Connection, row: Any, body: dict[str, Any], flaw: "_Flawed"
    ) -> bool:
        found = len(self.flaws)
        text: str = row["body"]
        if digest_bytes(text.encode("utf-8")) != row["hash"]:
            flaw.add("receipt_changed", "its content does not match its hash")
        elif not self.signer.is_valid(RECEIPT_PURPOSE, text, row["signature"]):
            flaw.add("signature_invalid", self._why_invalid(row["signature"]))
        if _payload_digest(connection, row, body) != body.get("payload_sha256"):
            flaw.add("payload_changed", "its payload does not match its hash")
        wrong = [name for name in _COLUMNS if body.get(name) != row[name]]
        if wrong or body.get("receipt_id") != row["id"]:
            flaw.add("receipt_changed", f"its index says something else about {wrong or ['id']}")
        return len(self.flaws) == found

    def _check_head(self, connection: Connection, session_id: str, hashes: dict[int, str]) -> None:
        row = connection.execute(
            "SELECT * FROM receipt_heads WHERE session_id = :session_id",
            {"session_id": session_id},
        ).fetchone()
        last = max(hashes, default=0)
        flaw = _Flawed(self.flaws, "database", session_id, last or None, None)
        if row is None:
            flaw.add("head_missing", "the signed end of the chain is gone")
            return
        seq, head_hash = int(row["seq"]), str(row["hash"])
        if not self.signer.is_valid(
            HEAD_PURPOSE, head_text(session_id, seq, head_hash), row["signature"]
        ):
            flaw.add("head_changed", self._why_invalid(row["signature"]))
        if seq > last:
            flaw.add("tail_removed", f"{_range(last + 1, seq)} missing at the end")
        elif seq < last or hashes.get(seq) != head_hash:
            flaw.add("head_changed", "the signed end of the chain is not its last receipt")

    def check_mirror(
        self, session_id: str, lines: list[MirrorLine], hashes: dict[int, str]
    ) -> None:
        self.mirror_lines += len(lines)
        seen: dict[int, int] = {}
        last = 0
        for line in lines:
            data = line.data or {}
            is_sound = self._is_line_sound(line, data)
            # A line that cannot be trusted is taken to stand where it should.
            seq: int = data["seq"] if is_sound else last + 1
            flaw = _Flawed(self.flaws, "mirror", session_id, seq, _text(data.get("receipt_id")))
            if not is_sound or data["session_id"] != session_id:
                flaw.add("receipt_changed", f"line {line.number} is not what was signed")
            elif seq in seen:
                flaw.add("receipt_repeated", f"line {line.number} repeats line {seen[seq]}")
            elif seq < last:
                flaw.add("order_changed", f"line {line.number} comes after receipt {last}")
            elif seq not in hashes:
                flaw.add("tail_removed", f"line {line.number} has no receipt in the database")
            elif hashes[seq] != data["hash"]:
                flaw.add("receipt_changed", f"line {line.number} differs from the database")
            seen.setdefault(seq, line.number)
            last = max(last, seq)
        for seq in sorted(set(range(1, last)) - set(seen)):
            flaw = _Flawed(self.flaws, "mirror", session_id, seq, None)
            flaw.add("receipt_removed", "its line is missing")
        if last < max(hashes, default=0):
            lacking = _range(last + 1, max(hashes))
            self.notes.append(f"the mirror of {session_id} lacks {lacking}; a sync appends it")

    def _is_line_sound(self, line: MirrorLine, data: dict[str, Any]) -> bool:
        body = {name: data[name] for name in data if name not in ("payload", "hash", "signature")}
        try:
            if canonical_json(data) != line.text:
                return False
            text = canonical_json(body)
            payload = canonical_json(data.get("payload")).encode("utf-8")
            text_hash = digest_bytes(text.encode("utf-8"))
        except (ValueError, TypeError):
            return False
        return (
            digest_bytes(payload) == body.get("payload_sha256")
            and text_hash == data.get("hash")
            and self.signer.is_valid(RECEIPT_PURPOSE, text, str(data.get("signature")))
        )

    def _why_invalid(self, signature: str) -> str:
        if self.signer.has_key and not self.signer.made_with_this_key(signature):
            return "it was signed with another key than the present one"
        return "its signature is not this project's"


@dataclass(frozen=True, slots=True)
class _Flawed:
    flaws: list[Flaw]
    where: str
    session_id: str
    seq: int | None
    receipt_id: str | None

    def add(self, code: str, why: str) -> None:
        number = "" if self.seq is None else f" #{self.seq}"
        name = f"receipt{number}" + (f" {self.receipt_id}" if self.receipt_id else "")
        message = f"{self.where}, session {self.session_id}, {name}: {why}"
        self.flaws.append(
            Flaw(code, message, self.where, self.session_id, self.seq, self.receipt_id)
        )


def _stored_sessions(connection: Connection) -> list[str]:
    rows = connection.execute(
        "SELECT session_id FROM receipts UNION SELECT session_id FROM receipt_heads"
    )
    return [row["session_id"] for row in rows]


def _payload_digest(connection: Connection, row: Any, body: dict[str, Any]) -> str | None:
    if row["payload"] is not None:
        return digest_bytes(row["payload"].encode("utf-8"))
    try:
        return digest_bytes(get_blob(connection, str(body.get("payload_sha256"))))
    except NotFound:
        return None


def _load(text: str) -> dict[str, Any]:
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", data) if isinstance(data, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _range(first: int, last: int) -> str:
    return f"receipt {first}" if first == last else f"receipts {first} to {last}"
