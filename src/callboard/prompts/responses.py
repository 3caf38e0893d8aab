"""Agent responses as a readable file beside the receipts; the database is the truth."""

import contextlib
import json
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from callboard.core.canonical import Json, compact_json, digest_bytes
from callboard.prompts.records import load_prompt
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.files import (
    append_durably,
    locked_folder,
    read_whole_lines,
    write_atomically,
)

FILE: Final = "agent_responses.jsonl"
_ANSWERED: Final = (
    "SELECT id, replied_at FROM prompts"
    " WHERE session_id = :session_id AND replied_at >= :since ORDER BY replied_at, id"
)
# A reply may be committed so much later than its time says.
_LATEST_MS: Final = 600_000


@dataclass(slots=True)
class _Written:
    """What a session's file held when it was last looked at."""

    size: int
    # The newest responses with the time of their replies; older ones are not asked for again.
    newest: dict[str, int]

    @property
    def since(self) -> int:
        return max(self.newest.values(), default=0) - _LATEST_MS


class ResponseMirror:
    """Keeps the file of each session in step with its prompts; the file is read only once."""

    def __init__(self, database: Database, audit: Path) -> None:
        """Take the database and the folder of the audit trail."""
        self._database = database
        self._audit = audit
        # Callboard's own folder, in which nothing may be a link.
        self._kept = audit.parent
        self._written: dict[str, _Written] = {}

    def sync(self, session_id: str) -> int:
        """Append the responses the session's file lacks; return how many."""
        folder = self._audit / "sessions" / session_id
        with locked_folder(folder, within=self._kept):
            path = folder / FILE
            written = self._written.pop(session_id, None)
            if written is None or written.size != _size(path):
                return self._sync_whole(session_id, path)
            fresh = self._missing(session_id, written.since, written.newest)
            if fresh:
                append_durably(path, _encode(list(fresh.values())), within=self._kept)
            self._remember(session_id, path, {**written.newest, **_times(fresh.values())})
            return len(fresh)

    def _sync_whole(self, session_id: str, path: Path) -> int:
        lines = read_whole_lines(path, within=self._kept)
        known = _times(lines)
        fresh = self._missing(session_id, 0, known)
        if fresh and _size(path) == len(_encode(lines)):
            append_durably(path, _encode(list(fresh.values())), within=self._kept)
        elif fresh:
            # A crash tore the last line off; what is complete stays as it is.
            whole = _encode([*lines, *fresh.values()])
            write_atomically(path, whole, within=self._kept)
        self._remember(session_id, path, {**known, **_times(fresh.values())})
        return len(fresh)

    def _missing(self, session_id: str, since: int, known: Container[str]) -> dict[str, str]:
        return self._database.read(lambda c: _render(c, session_id, since, known))

    def _remember(self, session_id: str, path: Path, known: dict[str, int]) -> None:
        since = _Written(0, known).since
        newest = {name: at for name, at in known.items() if at >= since}
        self._written[session_id] = _Written(_size(path), newest)


def _render(
    connection: Connection, session_id: str, since: int, known: Container[str]
) -> dict[str, str]:
    asked = {"session_id": session_id, "since": since}
    ids = [str(row["id"]) for row in connection.execute(_ANSWERED, asked).fetchall()]
    return {
        _response_id(prompt_id): compact_json(_response(connection, prompt_id))
        for prompt_id in ids
        if _response_id(prompt_id) not in known
    }


def _response(connection: Connection, prompt_id: str) -> dict[str, Json]:
    record = load_prompt(connection, prompt_id)
    reply = record.reply
    return {
        "id": _response_id(record.id),
        "prompt_id": record.id,
        "prompt_sha256": digest_bytes(record.text.encode("utf-8", "surrogatepass")),
        "session_id": record.session_id,
        "run_id": record.run_id,
        "step_key": record.step_key,
        "agent_id": record.agent_id,
        "model": record.model_id,
        "text": reply.text if reply is not None else "",
        "usage": dict(reply.usage) if reply is not None else {},
        "created_at": record.created_at,
        "replied_at": reply.replied_at if reply is not None else None,
    }


def _response_id(prompt_id: str) -> str:
    return f"resp_{prompt_id.partition('_')[2]}"


def _times(lines: Iterable[str]) -> dict[str, int]:
    """Return the responses in lines of a file with the times of their replies."""
    found: dict[str, int] = {}
    for line in lines:
        with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
            data: Any = json.loads(line)
            found[str(data["id"])] = int(data.get("replied_at") or 0)
    return found


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except FileNotFoundError:
        return 0


def _encode(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
