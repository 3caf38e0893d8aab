"""Small models: asked little, they pick from what code offers and fill in forms."""

from callboard.choreography.small.micro import FAIL, VERDICT, choice_of
from callboard.choreography.small.parts import (
    EACH,
    EVIDENCE,
    FINDING,
    LINES,
    TARGET,
    Parts,
    Question,
)
from callboard.choreography.small.plain import clean_reply, plain_findings

__all__ = [
    "EACH",
    "EVIDENCE",
    "FAIL",
    "FINDING",
    "LINES",
    "TARGET",
    "VERDICT",
    "Parts",
    "Question",
    "choice_of",
    "clean_reply",
    "plain_findings",
]
