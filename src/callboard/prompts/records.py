"""Prompt records: every call as it was sent, readable back byte for byte.

Texts are content-addressed blobs, so a layer that does not change from call to call is stored
once. Refuses to log any of them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from callboard.core.canonical import Json, compact_json
from callboard.core.errors import NotFound
from callboard.core.vocabulary import ModelTier, Trust
from callboard.prompts.assembly import AssembledPrompt
from callboard.prompts.layers import (
    FittingOutcome,
    LayerLine,
    Layout,
    MessagePlace,
    PromptMessage,
    flatten,
)
from callboard.store.blobs import get_blob, put_blob
from callboard.store.connection import Connection

_INSERT: Final = """
INSERT INTO prompts (id, created_at, session_id, run_id, step_key, agent_id, model_id, tier, mode,
  total_tokens, limit_tokens, layers, messages, layout)
VALUES (:id, :created_at, :session_id, :run_id, :step_key, :agent_id, :model_id, :tier, :mode,
  :total_tokens, :limit_tokens, :layers, :messages, :layout)
ON CONFLICT (id) DO NOTHING
"""
_REPLY: Final = """
UPDATE prompts SET reply = :reply, usage = :usage, warnings = :warnings, replied_at = :replied_at
WHERE id = :id
"""
_COLUMNS: Final = (
    "id, created_at, model_id, tier, mode, total_tokens, run_id, step_key, agent_id, reply"
)
_NEWEST: Final = "ORDER BY created_at DESC, id DESC LIMIT :limit"
_LIST: Final = f"SELECT {_COLUMNS} FROM prompts {_NEWEST}"  # noqa: S608
_LIST_OF_RUN: Final = f"SELECT {_COLUMNS} FROM prompts WHERE run_id = :run_id {_NEWEST}"  # noqa: S608


@dataclass(frozen=True, slots=True)
class ReplyRecord:
    """What came back for a prompt."""

    text: str
    replied_at: int
    usage: Mapping[str, Json] = field(default_factory=dict[str, Json])
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptRecord:
    """One model call: what was sent, to whom, made of what, and what came back."""

    id: str
    created_at: int
    messages: tuple[PromptMessage, ...]
    bill: tuple[LayerLine, ...]
    layout: Layout
    total_tokens: int
    limit_tokens: int | None = None
    model_id: str = ""
    tier: ModelTier | None = None
    mode: str = ""
    session_id: str | None = None
    run_id: str | None = None
    step_key: str | None = None
    agent_id: str | None = None
    reply: ReplyRecord | None = None

    @property
    def text(self) -> str:
        """The prompt as one flat text."""
        return flatten(self.messages, self.layout)


@dataclass(frozen=True, slots=True)
class PromptSummary:
    """A record as listed, without any of its texts."""

    id: str
    created_at: int
    model_id: str
    tier: str
    mode: str
    total_tokens: int
    run_id: str | None
    step_key: str | None
    agent_id: str | None
    has_reply: bool


def record_prompt(prompt: AssembledPrompt, prompt_id: str, created_at: int) -> PromptRecord:
    """Return the record of an assembled prompt; who asked is filled in with `replace`."""
    return PromptRecord(
        id=prompt_id,
        created_at=created_at,
        messages=prompt.messages,
        bill=prompt.bill,
        layout=prompt.layout,
        total_tokens=prompt.total_tokens,
        limit_tokens=prompt.limit_tokens,
        model_id=prompt.model_id,
        tier=prompt.tier,
    )


def save_prompt(connection: Connection, record: PromptRecord) -> None:
    """Store what is about to be sent; saving the same id again changes nothing."""
    connection.execute(
        _INSERT,
        {
            "id": record.id,
            "created_at": record.created_at,
            "session_id": record.session_id,
            "run_id": record.run_id,
            "step_key": record.step_key,
            "agent_id": record.agent_id,
            "model_id": record.model_id,
            "tier": record.tier.value if record.tier else "",
            "mode": record.mode,
            "total_tokens": record.total_tokens,
            "limit_tokens": record.limit_tokens,
            "layers": compact_json([_line_to_json(connection, line) for line in record.bill]),
            "messages": compact_json([_message_to_json(connection, m) for m in record.messages]),
            "layout": compact_json(record.layout.to_json()),
        },
    )
    if record.reply is not None:
        save_reply(connection, record.id, record.reply)


def save_reply(connection: Connection, prompt_id: str, reply: ReplyRecord) -> None:
    """Store what came back for a prompt, its usage and what the parser had to say."""
    cursor = connection.execute(
        _REPLY,
        {
            "id": prompt_id,
            "reply": _put(connection, reply.text),
            "usage": compact_json(dict(reply.usage)),
            "warnings": compact_json(list(reply.warnings)),
            "replied_at": reply.replied_at,
        },
    )
    if cursor.rowcount == 0:
        raise _missing(prompt_id)


def load_prompt(connection: Connection, prompt_id: str) -> PromptRecord:
    """Return a record with all its texts, exactly as they were."""
    row = connection.execute("SELECT * FROM prompts WHERE id = :id", {"id": prompt_id}).fetchone()
    if row is None:
        raise _missing(prompt_id)
    messages = tuple(
        PromptMessage(
            entry["role"],
            tuple(_get(connection, part) for part in entry["parts"]),
            MessagePlace(entry["place"]),
        )
        for entry in json.loads(row["messages"])
    )
    record = PromptRecord(
        id=row["id"],
        created_at=row["created_at"],
        messages=messages,
        bill=tuple(_line_from_json(connection, entry) for entry in json.loads(row["layers"])),
        layout=Layout(**json.loads(row["layout"])),
        total_tokens=row["total_tokens"],
        limit_tokens=row["limit_tokens"],
        model_id=row["model_id"],
        tier=ModelTier(row["tier"]) if row["tier"] else None,
        mode=row["mode"],
        session_id=row["session_id"],
        run_id=row["run_id"],
        step_key=row["step_key"],
        agent_id=row["agent_id"],
    )
    return record if row["reply"] is None else replace(record, reply=_reply(connection, row))


def list_prompts(
    connection: Connection, *, run_id: str | None = None, limit: int = 50
) -> list[PromptSummary]:
    """List the newest records first, of one run or of all."""
    rows = connection.execute(
        _LIST if run_id is None else _LIST_OF_RUN, {"run_id": run_id, "limit": limit}
    ).fetchall()
    names = PromptSummary.__dataclass_fields__.keys() - {"has_reply"}
    return [
        PromptSummary(**{name: row[name] for name in names}, has_reply=row["reply"] is not None)
        for row in rows
    ]


def _reply(connection: Connection, row: Any) -> ReplyRecord:
    return ReplyRecord(
        text=_get(connection, row["reply"]),
        replied_at=row["replied_at"],
        usage=json.loads(row["usage"]),
        warnings=tuple(json.loads(row["warnings"])),
    )


def _message_to_json(connection: Connection, message: PromptMessage) -> dict[str, Json]:
    parts = [_put(connection, part) for part in message.parts]
    return {"role": message.role, "place": message.place.value, "parts": parts}


def _line_to_json(connection: Connection, line: LayerLine) -> dict[str, Json]:
    text = _put(connection, line.text) if line.text else None
    return {**line.to_json(), "text": text}


def _line_from_json(connection: Connection, data: dict[str, Any]) -> LayerLine:
    text = _get(connection, data["text"]) if data["text"] else ""
    values: dict[str, Any] = {**data, "text": text}
    values["trust"], values["outcome"] = Trust(data["trust"]), FittingOutcome(data["outcome"])
    return LayerLine(**values)


def _put(connection: Connection, text: str) -> str:
    return put_blob(connection, text.encode("utf-8", "surrogatepass"))


def _get(connection: Connection, sha256: str) -> str:
    return get_blob(connection, sha256).decode("utf-8", "surrogatepass")


def _missing(prompt_id: str) -> NotFound:
    return NotFound(
        f"There is no prompt {prompt_id!r} in this project.",
        fix="Run 'callboard prompts list' to see the stored calls.",
        id=prompt_id,
    )
