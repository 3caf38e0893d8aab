"""What an ingredient line says, and how sure that is. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

SURE: Final = 0.7
"""Lines below this are shown to the human before anything is written."""


class Flag(StrEnum):
    """Something about a line that its fields do not say."""

    APPROXIMATE = "approximate"
    NO_NAME = "no_name"
    UNKNOWN_UNIT = "unknown_unit"
    UNIT_AS_NAME = "unit_as_name"
    SEVERAL = "several_ingredients"
    PROSE = "prose"
    SUM = "sum_of_amounts"
    PER_PERSON = "per_person"
    AMBIGUOUS_NUMBER = "ambiguous_number"
    UNREAD_PART = "unread_part"
    NO_FOOD = "no_food"
    TOO_LONG = "too_long"


DOUBTS: Final[Mapping[Flag, float]] = {
    Flag.APPROXIMATE: 0.05,
    Flag.NO_NAME: 0.9,
    Flag.UNKNOWN_UNIT: 0.5,
    Flag.UNIT_AS_NAME: 0.35,
    Flag.SEVERAL: 0.4,
    Flag.PROSE: 0.6,
    Flag.SUM: 0.4,
    Flag.PER_PERSON: 0.4,
    Flag.AMBIGUOUS_NUMBER: 0.5,
    Flag.UNREAD_PART: 0.35,
    Flag.NO_FOOD: 0.4,
    Flag.TOO_LONG: 0.6,
}


@dataclass(frozen=True, slots=True)
class IngredientLine:
    """One line of an ingredient list; `raw` is the line exactly as it was given."""

    raw: str
    name: str
    quantity: float | None = None
    # Set for a range only, and then above `quantity`.
    quantity_high: float | None = None
    unit: str | None = None
    # How big one is: `large`, or `400 g` for a can.
    size: str | None = None
    preparation: str | None = None
    note: str | None = None
    optional: bool = False
    alternatives: tuple[str, ...] = ()
    confidence: float = 1.0
    flags: tuple[Flag, ...] = ()
    # The part of the dish it is for, as the list is headed.
    group: str = ""

    @property
    def is_sure(self) -> bool:
        """Whether the line may be taken as read."""
        return self.confidence >= SURE


def confidence_of(flags: tuple[Flag, ...]) -> float:
    """Return how sure a line with these flags is, between 0 and 1."""
    return round(max(0.0, 1.0 - sum(DOUBTS[flag] for flag in flags)), 2)
