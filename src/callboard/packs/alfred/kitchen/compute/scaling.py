"""Scaling: a recipe for another number of people."""

from typing import Any

from callboard.core.errors import InvalidInput
from callboard.packs.alfred.kitchen.compute.amounts import kitchen_fraction
from callboard.packs.alfred.kitchen.compute.rows import Row, ingredient_lines, scale_of
from callboard.packs.alfred.kitchen.compute.units import rounded


def scale_recipe(recipe: Row, servings: float) -> dict[str, Any]:
    """Return a recipe for so many servings; what has no quantity has none afterwards.

    `shown` is the quantity as a measuring cup has it. It is for showing only.
    """
    if not servings > 0:
        raise InvalidInput(
            f"A recipe cannot be made for {servings:g} servings", fix="Name a number above 0."
        )
    scale = scale_of(recipe, servings)
    lines: list[dict[str, Any]] = []
    for line in ingredient_lines(recipe):
        quantity = line.get("quantity")
        exact = None if quantity is None else rounded(float(quantity) * scale)
        shown = "" if exact is None else kitchen_fraction(exact)
        lines.append({**line, "quantity": exact, "shown": shown})
    return {**recipe, "servings": servings, "ingredients": lines, "scale": rounded(scale)}
