"""Recipes in and out of the kitchen: read from files, written to files, without a model."""

from callboard.packs.alfred.kitchen.recipes.lines import SURE, Flag, IngredientLine, parse_line
from callboard.packs.alfred.kitchen.recipes.reading import Kind, RecipeUnreadable, import_file
from callboard.packs.alfred.kitchen.recipes.recipe import (
    Facts,
    ImportedRecipe,
    ImportedStep,
    ImportReport,
    Warned,
)
from callboard.packs.alfred.kitchen.recipes.writing import (
    CalendarTimes,
    from_row,
    to_write,
    write_calendar,
    write_jsonld,
    write_markdown,
    write_shopping,
)

__all__ = [
    "SURE",
    "CalendarTimes",
    "Facts",
    "Flag",
    "ImportReport",
    "ImportedRecipe",
    "ImportedStep",
    "IngredientLine",
    "Kind",
    "RecipeUnreadable",
    "Warned",
    "from_row",
    "import_file",
    "parse_line",
    "to_write",
    "write_calendar",
    "write_jsonld",
    "write_markdown",
    "write_shopping",
]
