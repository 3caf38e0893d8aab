"""What a conference is made of, as it is stored and shown, and what a pack brings to one."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

from callboard.choreography.agent_calls import ToolPolicy
from callboard.choreography.grounding import Grounding
from callboard.core.canonical import Json
from callboard.core.codec import Coded
from callboard.store.journal.conferences import ConferenceRow
from callboard.tools import ToolContext


class ReplyStatus(StrEnum):
    """What became of one agent's reply."""

    ACCEPTED = "accepted"
    ABSTAINED = "abstained"
    REJECTED = "rejected"
    ERROR = "error"


class RoundStatus(StrEnum):
    """How far a round has come."""

    PHASE1 = "phase1"
    PHASE2 = "phase2"
    CLOSED = "closed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class RoundReply:
    """One agent's reply in a round; `code` and `detail` say why it does not count."""

    agent_id: str
    archetype: str
    status: ReplyStatus
    text: str = ""
    evidence: str = ""
    code: str = ""
    detail: str = ""
    duration_ms: int = 0

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        rejection = {"code": self.code, "detail": self.detail} if self.code else None
        return {
            "agent_id": self.agent_id,
            "archetype": self.archetype,
            "status": self.status.value,
            "text": self.text or None,
            "evidence": self.evidence or None,
            "rejection": rejection,
            "duration_ms": self.duration_ms,
        }

    @classmethod
    def from_json(cls, data: Json) -> "RoundReply":
        """Read the stored shape."""
        raw = cast("dict[str, Any]", data)
        rejection: Mapping[str, str] = raw["rejection"] or {}
        return cls(
            raw["agent_id"],
            raw["archetype"],
            ReplyStatus(raw["status"]),
            raw["text"] or "",
            raw["evidence"] or "",
            rejection.get("code", ""),
            rejection.get("detail", ""),
            raw["duration_ms"],
        )


@dataclass(frozen=True, slots=True)
class ConferenceRound:
    """One user message and what everybody made of it; its id is that of its run."""

    round_id: str
    number: int
    user_message: str
    status: RoundStatus
    receipt_ids: tuple[str, ...] = ()
    replies: tuple[RoundReply, ...] = ()
    issue_id: int | None = None
    error: dict[str, Json] | None = None
    created_at: int = 0

    def reply_of(self, agent_id: str) -> RoundReply | None:
        """Return what an agent said, if it has."""
        return next((each for each in self.replies if each.agent_id == agent_id), None)

    def to_json(self) -> dict[str, Json]:
        """Return the shape shown at the doors."""
        return {
            "round_id": self.round_id,
            "number": self.number,
            "user_message": self.user_message,
            "status": self.status.value,
            "receipt_ids": list(self.receipt_ids),
            "replies": [each.to_json() for each in self.replies],
            "issue_id": self.issue_id,
            "error": self.error,
            "created_at": self.created_at,
        }


@dataclass(frozen=True, slots=True)
class Conference:
    """Who confers, under which tool policy, and what has been said so far."""

    stored: ConferenceRow
    rounds: tuple[ConferenceRound, ...] = ()

    @property
    def conference_id(self) -> str:
        """What it is known by."""
        return self.stored.id

    @property
    def tool_policy(self) -> ToolPolicy:
        """What its agents may look up."""
        return ToolPolicy.from_json(self.stored.tool_policy)

    def to_json(self) -> dict[str, Json]:
        """Return the shape shown at the doors."""
        return {
            "conference_id": self.conference_id,
            "session_id": self.stored.session_id,
            "agents": list(self.stored.agents),
            "tool_policy": self.tool_policy.to_json(),
            "rounds": [each.to_json() for each in self.rounds],
            "created_at": self.stored.created_at,
        }


@dataclass(frozen=True, slots=True)
class ProposedCall(Coded):
    """A tool call with its arguments made by code; a small model only has to pick it."""

    tool: str
    args: dict[str, Json]
    label: str


ProposeCalls = Callable[[ToolContext, str], Sequence[ProposedCall]]
"""Returns the calls that would help with a message, the most useful first. Asks no model."""

KnownNames = Callable[[ToolContext], Collection[str]]
"""Returns the names the project is known to hold."""


def _no_calls(_context: ToolContext, _message: str) -> Sequence[ProposedCall]:
    return ()


def _no_names(_context: ToolContext) -> Collection[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Supplies:
    """What a pack brings; without hooks a small Chief gathers nothing."""

    grounding: Grounding
    propose: ProposeCalls = field(default=_no_calls)
    names: KnownNames = field(default=_no_names)
    subjects: tuple[str, ...] = ()
    """Words for things of the project: asked to check one, nobody answers without looking."""


Bring = Callable[[], Supplies]
"""Brings the supplies when they are first needed: a pack reads its files then, not on import."""
