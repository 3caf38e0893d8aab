"""The kitchen's tables as requests see them: labels, relations, and what belongs together."""

from typing import Any, Final

from callboard.library.relational.tables import Aliases, Relation, Tables, described
from callboard.packs.alfred.kitchen.schema import recipes, tables

SUBDOMAINS: Final = {
    "recipes": ("recipes", "recipe_ingredients", "recipe_steps", "recipe_tags", "ingredients"),
    "inventory": ("inventory_items", "ingredients"),
    "shopping": ("shopping_items",),
    "meal_plans": ("meal_plans",),
    "tasks": ("tasks",),
    "preferences": ("user_profile",),
    "cooking_log": ("cooking_log",),
}
_ALIASES: Final = Aliases(
    alias_key=recipes.ingredient_aliases.c.alias_key,
    name_key=recipes.ingredients.c.name_key,
    joined=recipes.ingredient_aliases.c.ingredient_id == recipes.ingredients.c.id,
)
_INGREDIENT: Final = Relation("ingredient", "ingredients", "ingredient_id", "id", many=False)
_RECIPE: Final = Relation("recipe", "recipes", "recipe_id", "id", many=False)
_MEAL: Final = Relation("meal_plan", "meal_plans", "meal_plan_id", "id", many=False)


def _visible_to(source: Any, user_id: str) -> Any:
    """Return whether somebody may see a row of the catalogue: a common name, or one they use."""
    from sqlalchemy import or_, select

    used = (recipes.recipe_ingredients, tables.inventory_items, tables.shopping_items)
    own = [
        source.c.id.in_(select(each.c.ingredient_id).where(each.c.user_id == user_id))
        for each in used
    ]
    return or_(source.c.is_shared, *own)


def kitchen_tables() -> Tables:
    """Return the description of every table a request may name."""
    return Tables(
        (
            described(
                recipes.recipes,
                label="name",
                searched=("name", "cuisine", "course", "description", "notes"),
                archived="archived_at",
                name_key=("name_key", "name"),
                relations=(
                    Relation(
                        "ingredients",
                        "recipe_ingredients",
                        "id",
                        "recipe_id",
                        through=_INGREDIENT,
                        is_child=True,
                    ),
                    Relation("steps", "recipe_steps", "id", "recipe_id", is_child=True),
                    Relation("tags", "recipe_tags", "id", "recipe_id", is_child=True),
                    Relation("cooking_log", "cooking_log", "id", "recipe_id"),
                    Relation("meal_plans", "meal_plans", "id", "recipe_id"),
                ),
            ),
            described(
                recipes.recipe_ingredients, label="raw_text", relations=(_INGREDIENT, _RECIPE)
            ),
            described(recipes.recipe_steps, label="text", relations=(_RECIPE,)),
            described(recipes.recipe_tags, label="tag", relations=(_RECIPE,)),
            described(
                recipes.ingredients,
                label="name",
                searched=("name",),
                name_key=("name_key", "name"),
                aliases=_ALIASES,
                visible=_visible_to,
            ),
            described(
                tables.inventory_items,
                label="ingredient.name",
                searched=("note",),
                relations=(_INGREDIENT,),
            ),
            described(
                tables.shopping_items,
                label="name",
                searched=("name",),
                name_key=("name_key", "name"),
                aliases=_ALIASES,
                relations=(_INGREDIENT, _RECIPE, _MEAL),
            ),
            described(
                tables.meal_plans, label="plan_date", searched=("note",), relations=(_RECIPE,)
            ),
            described(
                tables.tasks,
                label="description",
                searched=("description",),
                relations=(_RECIPE, _MEAL),
            ),
            described(
                tables.cooking_log,
                label="recipe_name",
                searched=("recipe_name", "notes"),
                relations=(_RECIPE, _MEAL),
            ),
            described(tables.user_profile, label="user_id"),
        ),
        SUBDOMAINS,
    )
