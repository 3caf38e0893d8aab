"""Recipes by name: whose they are is decided by who asks."""

from collections.abc import Mapping
from typing import Any, cast

from callboard.knowledge.entities.matching import name_key
from callboard.library.relational.dates import Moment
from callboard.library.relational.tables import Tables


def recipe_named(moment: Moment, tables: Tables, name: str) -> Mapping[str, Any] | None:
    """Return a user's own recipe by its name, if it is not put away."""
    from sqlalchemy import select

    recipes = tables["recipes"].table
    row = moment.connection.execute(
        select(recipes).where(
            recipes.c.user_id == moment.who.user_id,
            recipes.c.name_key == name_key(name),
            recipes.c.archived_at.is_(None),
        )
    ).mappings()
    return cast("Mapping[str, Any] | None", row.first())
