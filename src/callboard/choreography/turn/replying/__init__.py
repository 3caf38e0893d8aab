"""Replying: facts gathered by code, put into words, looked over before they are sent."""

from callboard.choreography.turn.replying.facts import Facts, Listing, gather_facts
from callboard.choreography.turn.replying.templates import (
    ALSO_NOT_UNDERSTOOD,
    NOTHING_MORE_SAVED,
    NOTHING_SAVED,
    proposal_text,
    reply_from_facts,
)
from callboard.choreography.turn.replying.wording import clean_reply, word_reply

__all__ = [
    "ALSO_NOT_UNDERSTOOD",
    "NOTHING_MORE_SAVED",
    "NOTHING_SAVED",
    "Facts",
    "Listing",
    "clean_reply",
    "gather_facts",
    "proposal_text",
    "reply_from_facts",
    "word_reply",
]
