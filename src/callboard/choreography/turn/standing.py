"""The standing of a conversation: what waits for the user, its turns, and why each did so."""

from dataclasses import asdict, dataclass
from typing import Any

from callboard.choreography.turn.memory import TalkState
from callboard.choreography.turn.memory_rows import TurnRow, list_turns, load_state, newest_turns
from callboard.choreography.turn.shapes import PendingClarification, PendingProposal
from callboard.choreography.turn.understanding.answers import held_ids
from callboard.core.errors import NotFound
from callboard.core.vocabulary import Entity, EntityState
from callboard.knowledge.entities import list_events, load_registry
from callboard.store.connection import Connection


class UnknownTurn(NotFound):
    """There is no such turn in this conversation."""

    code = "unknown_turn"


@dataclass(frozen=True, slots=True)
class TalkStanding:
    """Where a conversation stands; drafts an open question is about are answered with it."""

    mode: str | None
    clarification: PendingClarification | None
    proposal: PendingProposal | None
    drafts: tuple[Entity, ...]
    suggested_mode: str | None
    constraints: tuple[str, ...]


def standing_of(connection: Connection, session_id: str) -> TalkStanding:
    """Return where a conversation stands."""
    state, registry = load_state(connection, session_id), load_registry(connection, session_id)
    held = set(held_ids(state))
    drafts = registry.in_state(EntityState.PENDING)
    return TalkStanding(
        state.mode,
        state.clarification,
        state.proposal,
        tuple(each for each in drafts if each.id not in held),
        _fresh_suggestion(state),
        tuple(state.constraints),
    )


def turns_of(
    connection: Connection, session_id: str, newest: int | None = None
) -> list[dict[str, Any]]:
    """Return the turns of a conversation, or its newest, oldest first."""
    if newest is None:
        rows = list_turns(connection, session_id)
    else:
        rows = newest_turns(connection, session_id, newest)
    return [
        {
            "turn": row.turn,
            "user": row.message,
            "assistant": _told(row, "message") or "",
            "mode": _told(row, "mode"),
            "status": row.status,
            "started_at": row.started_at,
            "ended_at": row.ended_at,
        }
        for row in rows
    ]


def trace_of(connection: Connection, session_id: str, turn: int) -> dict[str, Any]:
    """Return why a turn did what it did; one that is not over has no trace yet."""
    rows = list_turns(connection, session_id)
    row = next((each for each in rows if each.turn == turn), None)
    if row is None or row.document is None:
        raise UnknownTurn(
            f"There is no finished turn {turn} in this conversation",
            fix=f"It has {len(rows)} turns.",
            turn=turn,
        )
    outcome = row.document["outcome"]
    events = [asdict(each) for each in list_events(connection, session_id) if each.turn == turn]
    wanted = ("plan", "steps", "assumptions", "calls", "warnings", "mode", "action")
    return {
        "turn": turn,
        "message": row.message,
        **{name: outcome[name] for name in wanted},
        "entity_events": events,
        **row.document["trace"],
    }


def _fresh_suggestion(state: TalkState) -> str | None:
    """Return the mode that was suggested with the last reply, and with no earlier one."""
    last = state.suggestion
    return last.mode if last is not None and last.turn == state.turn else None


def _told(row: TurnRow, name: str) -> Any:
    document: dict[str, Any] = row.document or {"outcome": {}}
    return document["outcome"].get(name)
