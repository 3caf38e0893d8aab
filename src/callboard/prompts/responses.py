"""Agent responses as a readable file beside the receipts; the database is the truth."""

import fcntl
import json
import os
from pathlib import Path
from typing import Any, Final

from callboard.core.canonical import Json, compact_json, digest_bytes
from callboard.prompts.records import load_prompt
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.files import read_whole_lines, write_atomically

FILE: Final = "agent_responses.jsonl"
_ANSWERED: Final = (
    "SELECT id FROM prompts WHERE session_id = :session_id AND replied_at IS NOT NULL"
    " ORDER BY replied_at, id"
)


def sync_responses(database: Database, audit: Path, session_id: str) -> int:
    """Append the responses the session's file lacks; return how many."""
    folder = audit / "sessions" / session_id
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f".{FILE}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = folder / FILE
        lines = read_whole_lines(path)
        known = {_id_of(line) for line in lines}
        fresh = database.read(lambda connection: _render(connection, session_id, known))
        if not fresh:
            return 0
        if _is_whole(path, lines):
            _append(path, fresh)
        else:
            # A crash tore the last line off; what is complete stays as it is.
            write_atomically(path, _encode([*lines, *fresh]))
        return len(fresh)


def _render(connection: Connection, session_id: str, known: set[str]) -> list[str]:
    rows = connection.execute(_ANSWERED, {"session_id": session_id}).fetchall()
    missing = [row["id"] for row in rows if _response_id(row["id"]) not in known]
    return [compact_json(_response(connection, prompt_id)) for prompt_id in missing]


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


def _id_of(line: str) -> str:
    try:
        data: Any = json.loads(line)
    except ValueError:
        return ""
    return str(data.get("id", "")) if isinstance(data, dict) else ""  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def _is_whole(path: Path, lines: list[str]) -> bool:
    return not path.exists() or path.stat().st_size == len(_encode(lines))


def _encode(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _append(path: Path, lines: list[str]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, _encode(lines))
        os.fsync(handle)
    finally:
        os.close(handle)
