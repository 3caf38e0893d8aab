"""Rows of turns: what is stored of a session and its turns, and what of a turn never closed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.choreography.turn.memory import TalkState
from callboard.choreography.turn.shapes import TurnOutcome
from callboard.core.canonical import Json, compact_json
from callboard.core.vocabulary import EntityState, StepState
from callboard.knowledge.entities import (
    Aged,
    EntityRegistry,
    StoredContent,
    archive_content,
    save_content,
    save_registry,
)
from callboard.store.connection import Connection
from callboard.store.journal.encoding import decode
from callboard.store.journal.runs import find_run
from callboard.store.journal.steps import load_journal, with_output

_TURNS: Final = "SELECT * FROM conversation_turns WHERE session_id = :session_id ORDER BY turn"
_NEWEST_TURNS: Final = (
    "SELECT * FROM conversation_turns WHERE session_id = :session_id ORDER BY turn DESC LIMIT :most"
)
_TURNS_OF_STATUS: Final = (
    "SELECT * FROM conversation_turns WHERE session_id = :session_id AND status = :status"
    " ORDER BY turn"
)


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn as it is stored; `document` is there once it is over."""

    session_id: str
    turn: int
    run_id: str
    part: int
    status: str
    message: str
    client_message_id: str | None
    document: dict[str, Any] | None
    started_at: int
    ended_at: int | None


def load_state(connection: Connection, session_id: str) -> TalkState:
    """Return a session's state; a session that has none begins with an empty one."""
    row: Any = connection.execute(
        "SELECT document FROM conversations WHERE session_id = :session_id",
        {"session_id": session_id},
    ).fetchone()
    return TalkState() if row is None else TalkState.model_validate_json(row["document"])


def load_owner(connection: Connection, session_id: str) -> str:
    """Return whose conversation a session is, without reading the rest; empty if nobody's yet."""
    row: Any = connection.execute(
        "SELECT document FROM conversations WHERE session_id = :session_id",
        {"session_id": session_id},
    ).fetchone()
    return "" if row is None else str(decode(row["document"]).get("user_id", ""))


def save_state(connection: Connection, session_id: str, state: TalkState, now: int) -> None:
    """Store a session's state as it is now."""
    connection.execute(
        "INSERT INTO conversations (session_id, document, updated_at)"
        " VALUES (:session_id, :document, :now)"
        " ON CONFLICT (session_id) DO UPDATE SET document = :document, updated_at = :now",
        {"session_id": session_id, "document": state.model_dump_json(), "now": now},
    )


@dataclass(frozen=True, slots=True)
class Begun:
    """A message that is about to be handled: by which run, as which of its parts."""

    session_id: str
    run_id: str
    part: int
    message: str
    client_message_id: str | None = None
    # The run this one begins again; it takes over that one's turn.
    parent_id: str | None = None


def begin_turn(connection: Connection, begun: Begun, now: int) -> int:
    """Give a message its number; the same part of the same run keeps the one it has."""
    known = find_turn(connection, begun.run_id, begun.part)
    if known is None and begun.parent_id is not None:
        known = find_turn(connection, begun.parent_id, begun.part)
    if known is not None:
        connection.execute(
            "UPDATE conversation_turns SET run_id = :run_id"
            " WHERE session_id = :session_id AND turn = :turn",
            {"run_id": begun.run_id, "session_id": known.session_id, "turn": known.turn},
        )
        return known.turn
    row: Any = connection.execute(
        "SELECT COALESCE(MAX(turn), 0) AS newest FROM conversation_turns"
        " WHERE session_id = :session_id",
        {"session_id": begun.session_id},
    ).fetchone()
    turn = int(row["newest"]) + 1
    connection.execute(
        "INSERT INTO conversation_turns (session_id, turn, run_id, part, status, message,"
        " client_message_id, document, started_at, ended_at) VALUES (:session_id, :turn, :run_id,"
        " :part, 'running', :message, :client_message_id, NULL, :now, NULL)",
        {
            "session_id": begun.session_id,
            "turn": turn,
            "run_id": begun.run_id,
            "part": begun.part,
            "message": begun.message,
            "client_message_id": begun.client_message_id,
            "now": now,
        },
    )
    return turn


def finish_turn(
    connection: Connection,
    session_id: str,
    turn: int,
    document: dict[str, Json] | None,
    now: int,
    status: str = "done",
) -> None:
    """Store how a turn ended."""
    connection.execute(
        "UPDATE conversation_turns SET status = :status, document = :document, ended_at = :now"
        " WHERE session_id = :session_id AND turn = :turn",
        {
            "status": status,
            "document": None if document is None else compact_json(document),
            "now": now,
            "session_id": session_id,
            "turn": turn,
        },
    )


def drop_turn(connection: Connection, session_id: str, turn: int) -> None:
    """Take a message back that could not be accepted; its number is given to the next one."""
    connection.execute(
        "DELETE FROM conversation_turns WHERE session_id = :session_id AND turn = :turn"
        " AND status = 'running'",
        {"session_id": session_id, "turn": turn},
    )


def find_turn(connection: Connection, run_id: str, part: int) -> TurnRow | None:
    """Return a turn by the run that performs it."""
    row = connection.execute(
        "SELECT * FROM conversation_turns WHERE run_id = :run_id AND part = :part",
        {"run_id": run_id, "part": part},
    ).fetchone()
    return None if row is None else _turn(row)


def find_sent(connection: Connection, session_id: str, client_message_id: str) -> TurnRow | None:
    """Return the turn of a message by the id its sender gave it."""
    row = connection.execute(
        "SELECT * FROM conversation_turns WHERE session_id = :session_id"
        " AND client_message_id = :client_message_id ORDER BY turn DESC LIMIT 1",
        {"session_id": session_id, "client_message_id": client_message_id},
    ).fetchone()
    return None if row is None else _turn(row)


def list_turns(
    connection: Connection, session_id: str, *, status: str | None = None
) -> list[TurnRow]:
    """Return a session's turns, oldest first."""
    # Two statements: one with a condition that may be empty would not use the index.
    sql = _TURNS if status is None else _TURNS_OF_STATUS
    rows: Any = connection.execute(sql, {"session_id": session_id, "status": status})
    return [_turn(row) for row in rows]


def newest_turns(connection: Connection, session_id: str, most: int) -> list[TurnRow]:
    """Return the last so many turns of a session, oldest first."""
    rows: Any = connection.execute(_NEWEST_TURNS, {"session_id": session_id, "most": most})
    return [_turn(row) for row in rows][::-1]


def _turn(row: Any) -> TurnRow:
    return TurnRow(
        session_id=row["session_id"],
        turn=row["turn"],
        run_id=row["run_id"],
        part=row["part"],
        status=row["status"],
        message=row["message"],
        client_message_id=row["client_message_id"],
        document=None if row["document"] is None else decode(row["document"]),
        started_at=row["started_at"],
        ended_at=row["ended_at"],
    )


@dataclass(frozen=True, slots=True)
class TurnClosing:
    """What is stored at the end of a turn."""

    session_id: str
    turn: int
    registry: EntityRegistry
    state: TalkState
    contents: tuple[StoredContent, ...]
    outcome: TurnOutcome
    trace: dict[str, Json]
    aged: Aged
    interrupted: tuple[int, ...] = ()

    def writer(self, now: int) -> Callable[[Connection], None]:
        """Return the work that stores all of it, or nothing."""

        def work(connection: Connection) -> None:
            for content in self.contents:
                save_content(connection, self.session_id, content, now)
            for entity in self.aged.collected:
                for name in (entity.id, *_old_ids(self.registry, entity.id)):
                    archive_content(connection, self.session_id, name, now)
            save_registry(connection, self.session_id, self.registry, now)
            save_state(connection, self.session_id, self.state, now)
            for turn in self.interrupted:
                finish_turn(connection, self.session_id, turn, None, now, "interrupted")
            document: dict[str, Json] = {
                "outcome": self.outcome.model_dump(mode="json"),
                "trace": self.trace,
            }
            finish_turn(connection, self.session_id, self.turn, document, now)

        return work


def age(registry: EntityRegistry, state: TalkState, turn: int, held: Iterable[str]) -> Aged:
    """Let a turn pass over what is talked about; what an open question holds stays fresh."""
    registry.touch(held, turn)
    aged = registry.end_of_turn(turn)
    state.forget_names([each.label for each in aged.collected])
    for entity in registry.in_state(EntityState.PENDING, EntityState.ACTIVE):
        state.take_back_name(entity.label)
    return aged


def _old_ids(registry: EntityRegistry, entity_id: str) -> list[str]:
    return [old for old, meant in registry.aliases.items() if meant == entity_id]


_WRITES: Final = ("/write/", "/confirmed/")


def find_interrupted(connection: Connection, session_id: str, before: int) -> list[TurnRow]:
    """Return turns whose run is over though they never were."""
    found: list[TurnRow] = []
    for row in list_turns(connection, session_id, status="running"):
        run = find_run(connection, row.run_id)
        if row.turn < before and (run is None or run.is_terminal):
            found.append(row)
    return found


def tell_interrupted(connection: Connection, row: TurnRow) -> str:
    """Return what an interrupted turn had done, in words."""
    run = find_run(connection, row.run_id)
    done: list[str] = []
    if run is not None:
        for key, step in load_journal(connection, run).items():
            if step.state is StepState.DONE and any(part in f"/{key}" for part in _WRITES):
                done += _labels(with_output(connection, step).output)
    what = f"Done before that: {', '.join(done)}." if done else "Nothing had been changed."
    return f"Your request “{row.message[:80]}” was interrupted. {what}"


def _labels(output: Any) -> list[str]:
    if not isinstance(output, dict):
        return []
    done = cast("dict[str, Any]", output).get("done")
    if not isinstance(done, dict):
        return []
    result = cast("dict[str, Any]", done)
    words = str(result.get("table", "")).replace("_", " ")
    return [f"{label} ({words})" for label in result.get("labels") or [f"{words} changed"]]
