"""A reading while it is made: what is open, what was found so far, and what becomes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from callboard.choreography.turn.shapes import (
    EntityUpdate,
    Option,
    PendingClarification,
    PendingProposal,
    UnderstandOutput,
)
from callboard.choreography.turn.understanding.signals import Signal
from callboard.core.vocabulary import Entity, EntityState


class AnswerKind(StrEnum):
    """What a message is to an open question or proposal."""

    CONFIRM = "confirm"
    REJECT = "reject"
    MODIFY = "modify"
    ANSWER = "answer"
    UNRELATED = "unrelated"


@dataclass(frozen=True, slots=True)
class Open:
    """What waits for the user's word."""

    clarification: PendingClarification | None = None
    proposal: PendingProposal | None = None

    @property
    def is_anything(self) -> bool:
        """Whether something waits."""
        return self.clarification is not None or self.proposal is not None


@dataclass(frozen=True, slots=True)
class MessageReading:
    """What code makes of a message."""

    output: UnderstandOutput
    signal: Signal | None = None
    # Whether the message is fully understood without a model.
    is_settled: bool = False
    answer: AnswerKind | None = None
    options: tuple[Option, ...] = ()
    assumptions: tuple[str, ...] = ()
    # Drafts that are to be made again without something they hold.
    revise: tuple[str, ...] = ()
    # A name that nothing in play goes by: the archive and the database may know it.
    look_for: str = ""


@dataclass
class ReadingDraft:
    """A reading while it is made."""

    message: str
    updates: dict[str, EntityState] = field(default_factory=dict[str, EntityState])
    referenced: list[str] = field(default_factory=list[str])
    avoid: list[str] = field(default_factory=list[str])
    allow: list[str] = field(default_factory=list[str])
    revise: list[str] = field(default_factory=list[str])
    assumptions: list[str] = field(default_factory=list[str])
    options: tuple[Option, ...] = ()
    question: str = ""
    is_settled: bool = True
    answer: AnswerKind | None = None
    look_for: str = ""

    def finish(self, signal: Signal | None) -> MessageReading:
        """Return what was read, as the turn takes it."""
        asks = bool(self.question)
        output = UnderstandOutput(
            entity_updates=[EntityUpdate(id=k, new_state=v) for k, v in self.updates.items()],
            referenced_entities=list(dict.fromkeys(self.referenced)),
            needs_clarification=asks,
            clarification_questions=[self.question] if asks else [],
            clarification_reason="ambiguous_reference" if asks else None,
            processed_message=self.message,
            constraints_added=[f"avoid:{noun}" for noun in self.avoid],
            constraints_removed=[f"avoid:{noun}" for noun in self.allow],
        )
        return MessageReading(
            output,
            signal,
            self.is_settled or asks,
            self.answer,
            self.options,
            tuple(self.assumptions),
            tuple(self.revise),
            self.look_for,
        )

    def ask_which(self, words: str, entities: Sequence[Entity]) -> None:
        """Ask which of several things is meant."""
        names = " or ".join(f"“{each.label}”" for each in entities[:5])
        self.question = f"Which one do you mean by “{words}”: {names}?"
        self.options = tuple(Option(id=each.id, label=each.label) for each in entities[:5])
