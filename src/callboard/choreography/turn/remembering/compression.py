"""Compression: every few turns the conversation is summed up. It never fails a turn."""

import logging
from typing import Annotated, Final

from pydantic import Field

from callboard.choreography.answers import Answer, read_answer, schema_of
from callboard.choreography.turn.prompting import SUMMARIZE, Asker, Hidden, Section
from callboard.choreography.turn.prompting.sections import CONSTRAINTS, FACTS, PRIOR
from callboard.choreography.turn.remembering.state import SessionState
from callboard.choreography.turn.remembering.temperature import summary_text
from callboard.choreography.turn.shapes import ConversationSummary, TurnSummary
from callboard.core.errors import CallboardError

_log: Final = logging.getLogger(__name__)
EVERY_TURNS: Final = 3
_MOST_DECISIONS: Final = 8
_MOST_CHARS: Final = 600


class SummarySaid(Answer):
    """How a model sums up a conversation."""

    engagement_summary: str
    key_decisions: Annotated[tuple[str, ...], Field(max_length=_MOST_DECISIONS)]
    next_likely_intent: str = ""


def is_due(state: SessionState, turn: int) -> bool:
    """Say whether enough turns have passed since the last summary."""
    return turn - state.summary.through_turn >= EVERY_TURNS


async def compress(
    asker: Asker, state: SessionState, turns: list[TurnSummary], hidden: Hidden, turn: int
) -> ConversationSummary:
    """Return what the conversation came to; the old summary if it cannot be told anew."""
    if asker.is_constrained(SUMMARIZE):
        return _by_code(state, turns, hidden, turn)
    said = "\n".join(f"user: {e.user}\nassistant: {hidden.scrub(e.assistant)}" for e in turns)
    actions = "\n".join(hidden.scrub(each) for e in turns for each in e.actions)
    sections = [
        Section(PRIOR, f"{summary_text(state.summary, hidden)}\n{said}".strip()),
        Section(FACTS, actions),
        Section(CONSTRAINTS, "\n".join(state.constraints)),
    ]
    try:
        reply = await asker.ask(
            "summarize", SUMMARIZE, sections, "Sum it up.", schema=schema_of(SummarySaid)
        )
    except CallboardError as error:
        _log.warning("the conversation was not summed up: %s", error)
        return state.summary
    found = read_answer(SummarySaid, reply.data)
    if found is None:
        return state.summary
    decisions = [hidden.scrub(each)[:160] for each in found.key_decisions]
    return ConversationSummary(
        engagement_summary=hidden.scrub(found.engagement_summary)[:_MOST_CHARS],
        key_decisions=_sound(decisions),
        active_constraints=list(state.constraints),
        next_likely_intent=found.next_likely_intent[:160],
        through_turn=turn,
    )


def _by_code(
    state: SessionState, turns: list[TurnSummary], hidden: Hidden, turn: int
) -> ConversationSummary:
    """Sum up by what was done: exact, if without grace."""
    done = [*state.summary.key_decisions, *(hidden.scrub(a) for e in turns for a in e.actions)]
    return ConversationSummary(
        engagement_summary=f"{turn} turns so far.",
        key_decisions=_sound(done),
        active_constraints=list(state.constraints),
        through_turn=turn,
    )


def _sound(decisions: list[str]) -> list[str]:
    """Return the newest decisions that are about something still shown."""
    kept = [each for each in dict.fromkeys(decisions) if "something put away" not in each]
    return kept[-_MOST_DECISIONS:]
