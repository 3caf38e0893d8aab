"""Ingredient lines as people write them, read without a model."""

from callboard.packs.alfred.kitchen.recipes.lines.parsing import parse_line, section_title
from callboard.packs.alfred.kitchen.recipes.lines.values import SURE, Flag, IngredientLine

__all__ = ["SURE", "Flag", "IngredientLine", "parse_line", "section_title"]
