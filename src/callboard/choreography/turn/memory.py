"""Memory: what a session keeps between turns, and how much of it each node is shown."""

import logging
import re
from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from callboard.choreography.answers import Answer, read_answer, schema_of
from callboard.choreography.turn.asker import SUMMARIZE, NodeAsker
from callboard.choreography.turn.sections import CONSTRAINTS, FACTS, PRIOR, Hidden, PromptSection
from callboard.choreography.turn.shapes import (
    ConversationSummary,
    PendingClarification,
    PendingProposal,
    TurnSummary,
)
from callboard.core.errors import CallboardError
from callboard.core.words import one_line

_MORE_LINES: Final = 40
_MORE: Final = re.compile(
    r"(?:please )?(?:(?:show|see|list|tell|give)(?: me| us)? )?"
    r"(?:more|(?:some )?more of (?:it|them)|the rest|the others|(?:them )?all|all of (?:it|them)|"
    r"the whole list|everything)(?: please| of them)?",
    re.IGNORECASE,
)
MOST_SUMMARIES: Final = 6
MOST_GONE: Final = 50
SUGGESTION_REST_TURNS: Final = 5
IDLE_MS: Final = 30 * 60 * 1000
EXPIRES_AFTER_TURNS: Final = 5


class Suggestion(BaseModel):
    """A mode that was suggested, and when."""

    model_config = ConfigDict(frozen=True)

    mode: str
    turn: int


class TalkState(BaseModel):
    """What a session remembers; the registry and what was made are stored beside it."""

    model_config = ConfigDict(extra="ignore", serialize_by_alias=True)

    turn: int = 0
    # Whose conversation it is: whoever spoke first. Nobody else is let in.
    user_id: str = ""
    # Chosen by the user; None until somebody has.
    mode: str | None = None
    constraints: list[str] = Field(default_factory=list[str])
    clarification: PendingClarification | None = None
    proposal: PendingProposal | None = None
    suggestion: Suggestion | None = None
    summary: ConversationSummary = ConversationSummary()
    recent: list[TurnSummary] = Field(default_factory=list[TurnSummary])
    # Names of what was put away and collected, so that old words do not bring them back.
    gone: list[str] = Field(default_factory=list[str])
    # Whether the user was asked about preferences once; nobody is asked twice.
    has_asked_profile: bool = False
    # Lines of the last lists that were not shown yet; "more" shows the next of them.
    rest: list[str] = Field(default_factory=list[str])
    last_at: int = 0
    ended_at: int | None = None

    @property
    def has_open_question(self) -> bool:
        """Whether something waits for the user's word."""
        return self.clarification is not None or self.proposal is not None

    def more(self, message: str) -> str | None:
        """Return the next lines of a list that was cut, if a message asks for them."""
        if not self.rest or not _MORE.fullmatch(message.strip(" .!?")):
            return None
        is_all = "all" in message.casefold() or "rest" in message.casefold()
        shown, self.rest = self.rest, []
        if not is_all and len(shown) > _MORE_LINES:
            shown, self.rest = shown[:_MORE_LINES], shown[_MORE_LINES:]
        tail = [f"… and {len(self.rest)} more: say “more” to see them"] if self.rest else []
        return "\n".join([*shown, *tail])

    def remember(self, summary: TurnSummary) -> None:
        """Keep a turn among the recent ones."""
        self.recent = [*self.recent, summary][-MOST_SUMMARIES:]

    def forget_names(self, labels: list[str]) -> None:
        """Note the names of what is gone."""
        self.gone = list(dict.fromkeys([*self.gone, *labels]))[-MOST_GONE:]

    def take_back_name(self, label: str) -> None:
        """Let a name be said again."""
        self.gone = [each for each in self.gone if each.casefold() != label.casefold()]

    def constrain(self, added: list[str], removed: list[str]) -> None:
        """Take on and lift what is to be avoided in this session."""
        lifted = {_stem(each) for each in removed}
        kept = [each for each in self.constraints if _stem(each) not in lifted]
        self.constraints = list(dict.fromkeys([*kept, *added]))


def _stem(constraint: str) -> str:
    return constraint.casefold().rstrip("s")


UNDERSTAND_TURNS: Final = 2
_MOST_CHARS: Final = 200


def summarize_turn(turn: int, user: str, assistant: str, actions: Sequence[str]) -> TurnSummary:
    """Return a turn as later ones remember it: cut to size, its actions in words."""
    shown = one_line(assistant, _MOST_CHARS)
    return TurnSummary(turn=turn, user=user[:400], assistant=shown, actions=list(actions)[:8])


def recent_section(state: TalkState, hidden: Hidden, turns: int, *, warm: bool) -> PromptSection:
    """Return the last turns, and what older ones came to once they are out of sight."""
    recent = state.recent[-turns:] if turns else []
    shown = _lines(recent, hidden)
    is_long = len(state.recent) > len(recent) or state.turn > len(recent)
    summary = summary_text(state.summary, hidden) if warm and is_long else ""
    whole = "\n".join(part for part in (summary, shown) if part)
    last = _lines(recent[-1:], hidden)
    return PromptSection(PRIOR, whole, shorter=(lambda: shown, lambda: last))


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


_log: Final = logging.getLogger(__name__)
EVERY_TURNS: Final = 3
_MOST_DECISIONS: Final = 8
_MOST_SUMMARY_CHARS: Final = 600


class SummarySaid(Answer):
    """How a model sums up a conversation."""

    engagement_summary: str
    key_decisions: Annotated[tuple[str, ...], Field(max_length=_MOST_DECISIONS)]
    next_likely_intent: str = ""


def is_due(state: TalkState, turn: int) -> bool:
    """Say whether enough turns have passed since the last summary."""
    return turn - state.summary.through_turn >= EVERY_TURNS


async def compress(
    asker: NodeAsker, state: TalkState, turns: list[TurnSummary], hidden: Hidden, turn: int
) -> ConversationSummary:
    """Return what the conversation came to; the old summary if it cannot be told anew."""
    if asker.is_constrained(SUMMARIZE):
        return _by_code(state, turns, hidden, turn)
    said = "\n".join(f"user: {e.user}\nassistant: {hidden.scrub(e.assistant)}" for e in turns)
    actions = "\n".join(hidden.scrub(each) for e in turns for each in e.actions)
    sections = [
        PromptSection(PRIOR, f"{summary_text(state.summary, hidden)}\n{said}".strip()),
        PromptSection(FACTS, actions),
        PromptSection(CONSTRAINTS, "\n".join(state.constraints)),
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
        engagement_summary=hidden.scrub(found.engagement_summary)[:_MOST_SUMMARY_CHARS],
        key_decisions=_sound(decisions),
        active_constraints=list(state.constraints),
        next_likely_intent=found.next_likely_intent[:160],
        through_turn=turn,
    )


def _by_code(
    state: TalkState, turns: list[TurnSummary], hidden: Hidden, turn: int
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
