"""The ladder: how a structured reply is got from any model, and what each model is good at."""

from callboard.models.ladder.gate import MAX_QUESTIONS, LadderGate, Profiles
from callboard.models.ladder.measuring import measure
from callboard.models.ladder.profiles import (
    ModelProfile,
    ProfileShelf,
    SchemaShape,
    Score,
    profiles_dir,
    shape_of,
)

__all__ = [
    "MAX_QUESTIONS",
    "LadderGate",
    "ModelProfile",
    "ProfileShelf",
    "Profiles",
    "SchemaShape",
    "Score",
    "measure",
    "profiles_dir",
    "shape_of",
]
