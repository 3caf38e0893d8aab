"""Turns: what was said in chats and not yet digested. A mark says that a turn was.

Two texts that nobody said are read like turns: the beats, and the scenes that were accepted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, cast

from callboard.core.canonical import Json, digest
from callboard.packs.writers_factory.model import PACK
from callboard.store.connection import Connection
from callboard.store.journal.encoding import decode
from callboard.store.records import Records

CHAT: Final = f"{PACK}/chat"
MARK: Final = "consolidated_turn"
UNREAD: Final = "unread_scene"
_BEATS: Final = "beats-"
_SCENE: Final = "scene-"
_BATCH_CHARS: Final = 6_000


class TurnState(StrEnum):
    """What became of a turn."""

    COMMITTED = "committed"
    CONFLICTED = "conflicted"


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """A message of the writer and the answer it got."""

    run_id: str
    message: str
    answer: str
    created_at: int

    @property
    def text(self) -> str:
        """Both, as one text."""
        return f"{self.message}\n{self.answer}".strip()

    @property
    def is_beat_sheet(self) -> bool:
        """Whether this is no conversation but the writer's beats, read for the people in them."""
        return self.run_id.startswith(_BEATS)

    @property
    def scene_id(self) -> str:
        """The accepted scene this is the text of; empty for everything else."""
        is_scene = self.run_id.startswith(_SCENE)
        return self.run_id.removeprefix(_SCENE).rpartition("-")[0] if is_scene else ""

    @property
    def is_talk(self) -> bool:
        """Whether somebody said it."""
        return not self.is_beat_sheet and not self.scene_id

    @property
    def source(self) -> str:
        """How the graph names where something was said."""
        if self.scene_id:
            return f"scene:{self.scene_id}"
        return "template:beat_sheet" if self.is_beat_sheet else f"conversation:{self.run_id}"


def open_turns(connection: Connection, *, limit: int | None = None) -> tuple[ChatTurn, ...]:
    """Return the finished turns without a mark, oldest first."""
    rows: Any = connection.execute(
        "SELECT id, args, result, created_at FROM runs"
        " WHERE choreography = :chat AND state = 'done' AND NOT EXISTS"
        " (SELECT 1 FROM records WHERE pack = :pack AND kind = :kind AND records.id = runs.id)"
        " ORDER BY position LIMIT :limit",
        {"chat": CHAT, "pack": PACK, "kind": MARK, "limit": 100_000 if limit is None else limit},
    )
    return tuple(
        ChatTurn(
            str(row["id"]),
            _said(decode(row["args"]), "message"),
            _said(decode(row["result"]), "message", "text"),
            int(row["created_at"]),
        )
        for row in rows
    )


def open_beats(connection: Connection, records: Records, text: str) -> ChatTurn | None:
    """Return the beat sheet as something to be read, unless this wording of it was."""
    turn = ChatTurn(f"{_BEATS}{digest(text)[:16]}", text, "", 0)
    return turn if text and without_marks(connection, records, [turn.run_id]) else None


def open_scenes(connection: Connection, records: Records) -> tuple[ChatTurn, ...]:
    """Return the accepted scenes that wait for a model to read them."""
    waiting = records.load_all(connection, UNREAD)
    found = (scene_turn(scene_id, str(body["text"])) for scene_id, body in waiting.items())
    return tuple(each for each in found if without_marks(connection, records, [each.run_id]))


def scene_turn(scene_id: str, text: str) -> ChatTurn:
    """Return the text of an accepted scene as something to be read."""
    return ChatTurn(f"{_SCENE}{scene_id}-{digest(text)[:16]}", text, "", 0)


async def open_scene(records: Records, scene: ChatTurn) -> None:
    """Let an accepted scene be read, in place of an older text of it; it waits until it is."""
    # What an earlier reading of the same text found is gone: acceptance clears the scene's edges.
    await records.delete(MARK, scene.run_id)
    await records.put(UNREAD, scene.scene_id, {"text": scene.message})


def without_marks(
    connection: Connection, records: Records, run_ids: Iterable[str]
) -> tuple[str, ...]:
    """Return those of some turns that nobody has digested yet."""
    return tuple(each for each in run_ids if records.load(connection, MARK, each) is None)


def mark_turns(
    connection: Connection, records: Records, run_ids: Iterable[str], state: TurnState
) -> None:
    """Mark turns within a unit of work."""
    for run_id in run_ids:
        records.store(connection, MARK, run_id, {"state": state.value})


def in_batches(turns: Iterable[ChatTurn], *, chars: int = _BATCH_CHARS) -> list[list[ChatTurn]]:
    """Put turns together as long as they fit one question; a long turn stands alone."""
    batches: list[list[ChatTurn]] = []
    size = 0
    for turn in turns:
        if not batches or size + len(turn.text) > chars:
            batches.append([])
            size = 0
        batches[-1].append(turn)
        size += len(turn.text)
    return batches


def _said(data: Json, *names: str) -> str:
    if not isinstance(data, dict):
        return ""
    told = cast("dict[str, Any]", data)
    return next((str(told[name]) for name in names if told.get(name)), "")
