"""Reads that many requests begin with: the recipes, what is in the house, who eats."""

from collections.abc import Sequence
from typing import Any, Final

from callboard.packs.alfred.kitchen.router.situation import Likely, Steps, among

MOST_ROWS: Final = 200


def read_recipes(
    steps: Steps, group: int, filters: Sequence[dict[str, Any]], likely: Likely | None = None
) -> str:
    """Add a read of recipes, of the most likely ones if there are too many."""
    chosen = [*filters] if likely is None else [*filters, among("id", likely.recipe_ids)]
    return steps.read(
        "Read the recipes", "recipes", group, table="recipes", filters=chosen,
        include=["ingredients", "tags"], limit=MOST_ROWS,
    )  # fmt: skip


def read_recipe(steps: Steps, group: int, wanted: dict[str, Any]) -> str:
    """Add a read of one recipe with what goes into it."""
    return steps.read(
        "Read the recipe", "recipes", group, table="recipes", filters=[wanted],
        include=["ingredients"],
    )  # fmt: skip


def read_stock(steps: Steps, group: int, likely: Likely | None = None) -> str:
    """Add a read of what is in the house."""
    filters = [] if likely is None else [among("ingredient_id", likely.ingredient_ids)]
    return steps.read(
        "Read what is in the house", "inventory", group, table="inventory_items", filters=filters,
        include=["ingredient"], limit=MOST_ROWS,
    )  # fmt: skip


def read_profile(steps: Steps, group: int) -> str:
    """Add a read of who eats."""
    return steps.read("Read the preferences", "preferences", group, table="user_profile")
