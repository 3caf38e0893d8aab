"""Understanding: what a message means for what is being talked about, code first."""

from callboard.choreography.turn.understanding.advice import merge_advice
from callboard.choreography.turn.understanding.gestures import (
    ABOUT_DRAFTS,
    objection,
    read_gesture,
    word_gesture,
)
from callboard.choreography.turn.understanding.reading import (
    AnswerKind,
    Open,
    Reading,
    is_destructive,
    read_message,
)
from callboard.choreography.turn.understanding.references import Pointed, find_references
from callboard.choreography.turn.understanding.signals import Signal, SignalKind, detect_signal
from callboard.choreography.turn.understanding.skipping import needs_model

__all__ = [
    "ABOUT_DRAFTS",
    "AnswerKind",
    "Open",
    "Pointed",
    "Reading",
    "Signal",
    "SignalKind",
    "detect_signal",
    "find_references",
    "is_destructive",
    "merge_advice",
    "needs_model",
    "objection",
    "read_gesture",
    "read_message",
    "word_gesture",
]
