"""Conference: one message, evidence gathered once, everybody's view of it apart from the others."""

from callboard.choreography.conference.conferences import Conferences
from callboard.choreography.conference.leading import ToolRequiredNotCalled
from callboard.choreography.conference.records import (
    read_conference,
    read_conferences,
    read_round,
)
from callboard.choreography.conference.rounds import AskAgain, ConferenceRounds
from callboard.choreography.conference.shapes import (
    Conference,
    ProposedCall,
    ReplyStatus,
    Round,
    RoundReply,
    RoundStatus,
    Supplies,
)

__all__ = [
    "AskAgain",
    "Conference",
    "ConferenceRounds",
    "Conferences",
    "ProposedCall",
    "ReplyStatus",
    "Round",
    "RoundReply",
    "RoundStatus",
    "Supplies",
    "ToolRequiredNotCalled",
    "read_conference",
    "read_conferences",
    "read_round",
]
