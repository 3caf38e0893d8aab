"""The arithmetic as plans use it: with today's date, the drafts at hand, and safety always read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from callboard.choreography.turn.domain import ComputeFunction, Row, Who
from callboard.choreography.turn.requests import QueryError
from callboard.packs.alfred.kitchen.compute.functions import compute_functions

Tables = Mapping[str, Sequence[Row]]
Options = Mapping[str, Any]
_SAFETY: Final = "user_profile"
# Who must not eat what is looked up in the profile, so that a plan cannot forget it.
_CHECKED: Final = frozenset({"match_recipes", "check_constraints"})
_OVER_LINES: Final = frozenset(
    {"match_recipes", "check_constraints", "missing_ingredients", "aggregate_shopping",
     "scale_recipe", "deduct_inventory"}
)  # fmt: skip


def kitchen_functions(today: Callable[[Who], str]) -> dict[str, ComputeFunction]:
    """Return the functions a plan may name; `today` tells what day it is for somebody."""
    return {name: _ready(function, today) for name, function in compute_functions().items()}


def _ready(function: ComputeFunction, today: Callable[[Who], str]) -> ComputeFunction:
    name = function.name
    needs = function.needs
    if name in _CHECKED and _SAFETY not in needs:
        needs = (*needs, _SAFETY)

    def run(tables: Tables, who: Who, options: Options) -> Mapping[str, Any]:
        given = tables
        if name in _OVER_LINES:
            given = _with_drafts(tables, options)
            _refuse_lineless(given)
        return function.run(given, who, {"today": today(who), **options})

    return replace(function, needs=needs, run=run)


def _with_drafts(tables: Tables, options: Options) -> Tables:
    """Return the tables with what is only drafted yet: a new recipe, or a plan's meals."""
    contents = cast("Sequence[Row]", options.get("contents") or ())
    drafted = [dict(each) for each in contents if "ingredients" in each]
    meals = [_meal(entry) for each in contents for entry in each.get("entries") or ()]
    changed: dict[str, Sequence[Row]] = dict(tables)
    if drafted:
        changed["recipes"] = [*drafted, *tables.get("recipes", ())]
    if meals:
        changed["meal_plans"] = meals
    return changed


def _meal(entry: Row) -> Row:
    return {
        "plan_date": entry.get("date"),
        "meal_type": entry.get("meal_type"),
        "recipe_id": entry.get("recipe_ref"),
        "servings": entry.get("servings"),
    }


def _refuse_lineless(tables: Tables) -> None:
    """A recipe without its ingredients would seem safe and complete; nobody may reckon with it."""
    for recipe in tables.get("recipes", ()):
        if "ingredients" not in recipe and recipe.get("storage") != "link":
            raise QueryError(
                "bad_value",
                "The recipes were read without their ingredients",
                field="include",
                allowed=["ingredients"],
                hint="Read recipes with include: [ingredients].",
            )
