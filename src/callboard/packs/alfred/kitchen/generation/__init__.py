"""Generation: recipes and plans that are valid, safe and grounded, whatever model makes them."""

from callboard.packs.alfred.kitchen.generation.content import (
    PLAN,
    RECIPE,
    content_schema,
    content_to_write,
    shape_objections,
)

__all__ = ["PLAN", "RECIPE", "content_schema", "content_to_write", "shape_objections"]
