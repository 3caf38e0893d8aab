"""The state of a session between turns: what is open, what is avoided, what was said lately."""

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from callboard.choreography.turn.shapes import (
    ConversationSummary,
    PendingClarification,
    PendingProposal,
    TurnSummary,
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


class SessionState(BaseModel):
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
    last_at: int = 0
    ended_at: int | None = None

    @property
    def has_open_question(self) -> bool:
        """Whether something waits for the user's word."""
        return self.clarification is not None or self.proposal is not None

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
