"""Recipes, meal plans and shopping lists written for people and for other programs."""

from callboard.packs.alfred.kitchen.recipes.writing.calendar import CalendarTimes, write_calendar
from callboard.packs.alfred.kitchen.recipes.writing.fractions import (
    kitchen_amount,
    kitchen_quantity,
)
from callboard.packs.alfred.kitchen.recipes.writing.jsonld import recipe_node, write_jsonld
from callboard.packs.alfred.kitchen.recipes.writing.markdown import write_markdown
from callboard.packs.alfred.kitchen.recipes.writing.records import from_row, to_write
from callboard.packs.alfred.kitchen.recipes.writing.shopping import write_shopping

__all__ = [
    "CalendarTimes",
    "from_row",
    "kitchen_amount",
    "kitchen_quantity",
    "recipe_node",
    "to_write",
    "write_calendar",
    "write_jsonld",
    "write_markdown",
    "write_shopping",
]
