"""Recipe: what was read of one, line by line, with how sure every part of it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

SURE: Final = 0.7
"""Lines below this are shown to the human before anything is written."""


class LineFlag(StrEnum):
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


DOUBTS: Final[Mapping[LineFlag, float]] = {
    LineFlag.APPROXIMATE: 0.05,
    LineFlag.NO_NAME: 0.9,
    LineFlag.UNKNOWN_UNIT: 0.5,
    LineFlag.UNIT_AS_NAME: 0.35,
    LineFlag.SEVERAL: 0.4,
    LineFlag.PROSE: 0.6,
    LineFlag.SUM: 0.4,
    LineFlag.PER_PERSON: 0.4,
    LineFlag.AMBIGUOUS_NUMBER: 0.5,
    LineFlag.UNREAD_PART: 0.35,
    LineFlag.NO_FOOD: 0.4,
    LineFlag.TOO_LONG: 0.6,
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
    flags: tuple[LineFlag, ...] = ()
    # The part of the dish it is for, as the list is headed.
    group: str = ""

    @property
    def is_sure(self) -> bool:
        """Whether the line may be taken as read."""
        return self.confidence >= SURE


def confidence_of(flags: tuple[LineFlag, ...]) -> float:
    """Return how sure a line with these flags is, between 0 and 1."""
    return round(max(0.0, 1.0 - sum(DOUBTS[flag] for flag in flags)), 2)


@dataclass(frozen=True, slots=True)
class ImportedStep:
    """One thing to do; `group` is the part of the dish it belongs to."""

    text: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class RecipeFacts:
    """What is said about a recipe besides what goes in and what is done."""

    servings: float | None = None
    # Set for a range only: six to eight bowls.
    servings_high: float | None = None
    # What it makes, if that is not counted in portions: `24 cookies`.
    yields: str | None = None
    prep_minutes: int | None = None
    cook_minutes: int | None = None
    cuisine: str | None = None
    course: str | None = None
    author: str | None = None
    published_on: str | None = None
    source_url: str | None = None


@dataclass(frozen=True, slots=True)
class ImportedRecipe:
    """A recipe that was read; nothing of it is in the database."""

    name: str
    ingredients: tuple[IngredientLine, ...] = ()
    steps: tuple[ImportedStep, ...] = ()
    tags: tuple[str, ...] = ()
    description: str = ""
    notes: str = ""
    facts: RecipeFacts = RecipeFacts()

    @property
    def unsure(self) -> tuple[IngredientLine, ...]:
        """Return the ingredient lines somebody should look at."""
        return tuple(line for line in self.ingredients if not line.is_sure)


@dataclass(frozen=True, slots=True)
class Warned:
    """Something about a file the reader left out or could not tell."""

    code: str
    message: str
    recipe: str = ""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What a file holds, to be looked at before anything is written."""

    kind: str
    recipes: tuple[ImportedRecipe, ...]
    warnings: tuple[Warned, ...] = ()

    @property
    def line_count(self) -> int:
        """Return how many ingredient lines were read."""
        return sum(len(recipe.ingredients) for recipe in self.recipes)

    @property
    def unsure_count(self) -> int:
        """Return how many ingredient lines somebody should look at."""
        return sum(len(recipe.unsure) for recipe in self.recipes)
