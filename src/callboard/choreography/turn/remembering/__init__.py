"""Remembering: what a session keeps between turns, and how much of it each node is shown."""

from callboard.choreography.turn.remembering.closing import Closing, age
from callboard.choreography.turn.remembering.compression import compress, is_due
from callboard.choreography.turn.remembering.rows import (
    Begun,
    TurnRow,
    begin_turn,
    drop_turn,
    find_sent,
    find_turn,
    list_turns,
    load_owner,
    load_state,
    newest_turns,
    save_state,
)
from callboard.choreography.turn.remembering.state import (
    EXPIRES_AFTER_TURNS,
    IDLE_MS,
    SUGGESTION_REST_TURNS,
    SessionState,
    Suggestion,
)
from callboard.choreography.turn.remembering.temperature import (
    UNDERSTAND_TURNS,
    recent_section,
    summarize_turn,
    summary_text,
)

__all__ = [
    "EXPIRES_AFTER_TURNS",
    "IDLE_MS",
    "SUGGESTION_REST_TURNS",
    "UNDERSTAND_TURNS",
    "Begun",
    "Closing",
    "SessionState",
    "Suggestion",
    "TurnRow",
    "age",
    "begin_turn",
    "compress",
    "drop_turn",
    "find_sent",
    "find_turn",
    "is_due",
    "list_turns",
    "load_owner",
    "load_state",
    "newest_turns",
    "recent_section",
    "save_state",
    "summarize_turn",
    "summary_text",
]
