"""A recipe as it came from outside, before anything is written. Values only."""

from dataclasses import dataclass

from callboard.packs.alfred.kitchen.recipes.lines import IngredientLine


@dataclass(frozen=True, slots=True)
class ImportedStep:
    """One thing to do; `group` is the part of the dish it belongs to."""

    text: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is said about a recipe besides what goes in and what is done."""

    servings: float | None = None
    # Set for a range only: six to eight bowls.
    servings_high: float | None = None
    # What the servings are counted in, if not portions: `cookies`.
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
    facts: Facts = Facts()

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
