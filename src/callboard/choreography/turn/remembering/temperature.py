"""Temperature: how much of the past each node is shown. Hot is always there, warm on demand.

What is cold (old turns, collected drafts) reaches a prompt only when a step reads it.
"""

from collections.abc import Sequence
from typing import Final

from callboard.choreography.turn.prompting import Hidden, Section
from callboard.choreography.turn.prompting.sections import PRIOR
from callboard.choreography.turn.remembering.state import SessionState
from callboard.choreography.turn.shapes import ConversationSummary, TurnSummary

UNDERSTAND_TURNS: Final = 2
_MOST_CHARS: Final = 200


def summarize_turn(turn: int, user: str, assistant: str, actions: Sequence[str]) -> TurnSummary:
    """Return a turn as later ones remember it: cut to size, its actions in words."""
    said = " ".join(assistant.split())
    shown = said if len(said) <= _MOST_CHARS else f"{said[: _MOST_CHARS - 1]}…"
    return TurnSummary(turn=turn, user=user[:400], assistant=shown, actions=list(actions)[:8])


def recent_section(state: SessionState, hidden: Hidden, turns: int, *, warm: bool) -> Section:
    """Return the last turns, and what older ones came to once they are out of sight."""
    recent = state.recent[-turns:] if turns else []
    shown = _lines(recent, hidden)
    is_long = len(state.recent) > len(recent) or state.turn > len(recent)
    summary = summary_text(state.summary, hidden) if warm and is_long else ""
    whole = "\n".join(part for part in (summary, shown) if part)
    last = _lines(recent[-1:], hidden)
    return Section(PRIOR, whole, shorter=(lambda: shown, lambda: last))


def summary_text(summary: ConversationSummary, hidden: Hidden) -> str:
    """Return what a long conversation came to, in few lines."""
    lines = [summary.engagement_summary] if summary.engagement_summary else []
    lines += [f"- decided: {each}" for each in summary.key_decisions]
    return hidden.scrub("\n".join(lines))


def _lines(turns: Sequence[TurnSummary], hidden: Hidden) -> str:
    lines: list[str] = []
    for each in turns:
        lines.append(f"user: {each.user}")
        lines.append(f"assistant: {hidden.scrub(each.assistant)}")
    return "\n".join(lines)
