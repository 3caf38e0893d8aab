"""Small models: asked little, they pick from what code offers and fill in forms."""

from callboard.choreography.small_models.forms import FAIL, VERDICT, choice_of
from callboard.choreography.small_models.parts import (
    EACH,
    EVIDENCE,
    FINDING,
    LINES,
    TARGET,
    PartQuestion,
    TemplateParts,
)
from callboard.choreography.small_models.plain import clean_reply, plain_findings

__all__ = [
    "EACH",
    "EVIDENCE",
    "FAIL",
    "FINDING",
    "LINES",
    "TARGET",
    "VERDICT",
    "PartQuestion",
    "TemplateParts",
    "choice_of",
    "clean_reply",
    "plain_findings",
]
