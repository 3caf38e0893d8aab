"""What the writer's words are: an answer, a question, a wish, and whether something was said."""

from callboard.packs.writers_factory.foreman.hearing.grounds import WriterWords, unsaid
from callboard.packs.writers_factory.foreman.hearing.reading import (
    MessageKind,
    ReadMessage,
    is_agreement,
    is_taking_back,
    read_message,
)
from callboard.packs.writers_factory.foreman.hearing.utterance import is_bare_name

__all__ = [
    "MessageKind",
    "ReadMessage",
    "WriterWords",
    "is_agreement",
    "is_bare_name",
    "is_taking_back",
    "read_message",
    "unsaid",
]
