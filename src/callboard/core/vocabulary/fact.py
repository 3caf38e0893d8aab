"""Fact: something known, soft until consolidation makes it hard."""

from dataclasses import dataclass
from enum import StrEnum

from callboard.core.vocabulary.content import Trust


class Hardness(StrEnum):
    """Whether a fact was only said, or is part of the graph."""

    SOFT = "soft"
    HARD = "hard"


@dataclass(frozen=True, slots=True)
class Fact:
    """Something known, with who said it and how far to believe it."""

    id: str
    text: str
    source: str
    hardness: Hardness = Hardness.SOFT
    trust: Trust = Trust.UNTRUSTED
