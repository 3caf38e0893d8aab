"""Recipes read from files and pasted text; nothing is written, fetched or run."""

from callboard.packs.alfred.kitchen.recipes.reading.importing import Kind, import_file
from callboard.packs.alfred.kitchen.recipes.reading.limits import RecipeUnreadable

__all__ = ["Kind", "RecipeUnreadable", "import_file"]
