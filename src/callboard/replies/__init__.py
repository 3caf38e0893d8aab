"""Replies: what a model said, taken apart. Nothing inside text ever becomes an action."""

from callboard.replies.artifacts import Extracted, JsonProblem, extract_json
from callboard.replies.coercion import coerce
from callboard.replies.parsing import parse_reply
from callboard.replies.reply import Action, ContentUpdate, ParsedReply, ReplyWarning

__all__ = [
    "Action",
    "ContentUpdate",
    "Extracted",
    "JsonProblem",
    "ParsedReply",
    "ReplyWarning",
    "coerce",
    "extract_json",
    "parse_reply",
]
