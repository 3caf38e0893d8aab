"""The mirror: a session's receipts as a readable file beside the database, which is the truth.

Lines are appended after the commit, by whoever comes next; what a crash tore off or left out is
put right by the next append. A complete line is never rewritten: if somebody changed one, that
is for verification to say.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from callboard.core.canonical import canonical_json, digest_bytes
from callboard.core.vocabulary import Receipt
from callboard.store.database import Connection, Database
from callboard.store.faults import FaultPoints, NoFaults
from callboard.store.files import open_for_writing
from callboard.store.reading import lines_bounded, naming_links, opened_folder
from callboard.tools.audit.folder import locked, mirror_path, sync_folder
from callboard.tools.audit.receipts import is_signature_valid, list_receipts, receipt_to_json
from callboard.tools.audit.signing import Signer

_CHUNK_BYTES: Final = 65_536
_LONGEST_LINE_BYTES: Final = 64_000_000


@dataclass(frozen=True, slots=True)
class MirrorLine:
    """One complete line of the file; `data` is None if it is not a JSON object."""

    number: int
    text: str
    data: dict[str, Any] | None


def render_line(receipt: Receipt) -> str:
    """Return the one text a receipt has in the mirror."""
    return canonical_json(receipt_to_json(receipt))


def sync_mirror(
    database: Database, audit: Path, session_id: str, faults: FaultPoints | None = None
) -> int:
    """Append the receipts the file lacks, making it if need be; return how many."""
    path = mirror_path(audit, session_id)
    points = faults or NoFaults()
    is_new = not path.exists()
    if is_new and not database.read(lambda connection: _has_receipts(connection, session_id)):
        # A file without a line would look like a trail that somebody emptied.
        return 0
    with naming_links(path), opened_folder(audit.parent, path.parent, create=True) as folder:
        opened = open_for_writing(path, folder, os.O_RDWR)
    try:
        with locked(opened):
            end = _end_of_complete_lines(opened)
            last_seq = _last_seq(opened, end)
            lines = database.read(lambda connection: _render(connection, session_id, last_seq))
            if lines or end != os.fstat(opened).st_size:
                points.reach("receipts.before_mirror")
                os.ftruncate(opened, end)
                _write_all(opened, "".join(lines).encode("utf-8"), end)
                os.fsync(opened)
                points.reach("receipts.after_mirror")
    finally:
        os.close(opened)
    if is_new:
        sync_folder(path.parent)
    return len(lines)


def read_mirror(
    audit: Path, session_id: str, *, holding: tuple[str, ...] = ()
) -> Iterator[MirrorLine]:
    """Go through the complete lines of the file; a torn last one is not there yet.

    With `holding`, only through those in which one of these texts occurs.
    """
    lines = lines_bounded(
        mirror_path(audit, session_id),
        limit_bytes=_LONGEST_LINE_BYTES,
        within=audit.parent,
        follow_links=False,
    )
    with contextlib.suppress(FileNotFoundError):
        for number, raw in enumerate(lines, start=1):
            if raw.endswith(b"\n"):
                text = raw[:-1].decode("utf-8", "replace")
                if not holding or any(each in text for each in holding):
                    yield MirrorLine(number, text, _parse(text))


def _has_receipts(connection: Connection, session_id: str) -> bool:
    sql = "SELECT 1 FROM receipts WHERE session_id = :session_id LIMIT 1"
    return connection.execute(sql, {"session_id": session_id}).fetchone() is not None


def _render(connection: Connection, session_id: str, after_seq: int) -> list[str]:
    return [
        render_line(receipt) + "\n"
        for receipt in list_receipts(connection, session_id=session_id, after_seq=after_seq)
    ]


def _last_seq(opened: int, end: int) -> int:
    if end == 0:
        return 0
    start = _after_newline_before(opened, end - 1)
    data = _parse(os.pread(opened, end - start, start).decode("utf-8", "replace"))
    seq = None if data is None else data.get("seq")
    # A last line that lost its number still counts as one line.
    return seq if isinstance(seq, int) and not isinstance(seq, bool) else _count_lines(opened, end)


def _end_of_complete_lines(opened: int) -> int:
    return _after_newline_before(opened, os.fstat(opened).st_size)


def _after_newline_before(opened: int, position: int) -> int:
    while position > 0:
        start = max(0, position - _CHUNK_BYTES)
        found = os.pread(opened, position - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        position = start
    return 0


def _count_lines(opened: int, end: int) -> int:
    return sum(
        os.pread(opened, min(_CHUNK_BYTES, end - start), start).count(b"\n")
        for start in range(0, end, _CHUNK_BYTES)
    )


def _write_all(opened: int, data: bytes, position: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(opened, view, position)
        position += written
        view = view[written:]


def _parse(text: str) -> dict[str, Any] | None:
    try:
        data: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", data) if isinstance(data, dict) else None


@dataclass(frozen=True, slots=True)
class _Lines:
    """What the lines of a file stand for, as it was."""

    stamp: tuple[str, tuple[int, int, int] | None]
    by_name: dict[str, set[str]]
    by_seq: dict[int, set[str]]
    unreadable: list[str]


class MirrorIndex:
    """The mirrors of an audit trail by what their lines stand for; a file is read once as it is."""

    def __init__(self, audit: Path) -> None:
        """Take the folder of the mirrors."""
        self._audit = audit
        self._latest: _Lines | None = None

    def is_trustworthy(self, receipt: Receipt, signer: Signer) -> bool:
        """Say whether a receipt is what was signed, in the database and in its mirror.

        A mirror that lacks the receipt says nothing against it: it may not have been written yet.
        """
        if not is_signature_valid(receipt, signer):
            return False
        lines = self._lines(receipt.session_id)
        named = lines.by_name.get(receipt.id, set())
        stood_for = named | lines.by_seq.get(receipt.seq, set())
        is_spoiled = any(receipt.id in text for text in lines.unreadable)
        return not is_spoiled and stood_for <= {_digest(render_line(receipt))}

    def _lines(self, session_id: str) -> _Lines:
        stamp = (session_id, _state(mirror_path(self._audit, session_id)))
        lines = self._latest
        if lines is None or lines.stamp != stamp:
            lines = _Lines(stamp, {}, {}, [])
            for line in read_mirror(self._audit, session_id):
                _sort_in(line, lines)
            self._latest = lines
        return lines


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _sort_in(line: MirrorLine, lines: _Lines) -> None:
    if line.data is None:
        lines.unreadable.append(line.text)
        return
    name, seq = line.data.get("receipt_id"), line.data.get("seq")
    if isinstance(name, str):
        lines.by_name.setdefault(name, set()).add(_digest(line.text))
    if isinstance(seq, int):
        lines.by_seq.setdefault(seq, set()).add(_digest(line.text))


def _digest(text: str) -> str:
    return digest_bytes(text.encode("utf-8", "replace"))
