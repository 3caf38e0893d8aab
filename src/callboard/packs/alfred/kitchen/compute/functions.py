"""Functions: the arithmetic a plan may name, with today's date, drafts at hand, safety read."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, Final, cast

from callboard.choreography.turn.domain import ComputeFunction, Row, Who
from callboard.choreography.turn.requests import QueryError
from callboard.packs.alfred.kitchen.compute.matching import (
    SOON_DAYS,
    MatchOptions,
    match_recipes,
    open_slots,
    scale_recipe,
)
from callboard.packs.alfred.kitchen.compute.rows import (
    STAPLES,
    FoodCatalogue,
    staple_keys,
    with_mind,
)
from callboard.packs.alfred.kitchen.compute.shortages import (
    aggregate_shopping,
    group_shopping,
    missing_ingredients,
)
from callboard.packs.alfred.kitchen.compute.upkeep import (
    category_counts,
    cooking_stats,
    deduct_inventory,
    expiring_soon,
    low_stock,
)
from callboard.packs.alfred.kitchen.food.checking import Eater, check_for

Tables = Mapping[str, Sequence[Row]]
Options = Mapping[str, Any]
Run = Callable[[Tables, Who, Options], Mapping[str, Any]]
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class _Given:
    """What a function was handed: rows by table, and options such as `today` and `servings`."""

    tables: Tables
    options: Options
    staples: tuple[str, ...]

    def rows(self, table: str) -> Sequence[Row]:
        return self.tables.get(table, ())

    @property
    def catalogue(self) -> FoodCatalogue:
        return FoodCatalogue.of(self.rows("ingredients"))

    @property
    def profile(self) -> Row:
        rows = self.rows("user_profile")
        return rows[0] if rows else {}

    @property
    def eater(self) -> Eater:
        return Eater.of(self.profile, self.options.get("constraints", ()))

    @property
    def recipe(self) -> Row:
        rows = self.rows("recipes")
        if not rows:
            raise QueryError(
                "bad_value", "There is no recipe to reckon with", allowed=[], hint="Read it first."
            )
        return rows[0]

    def day(self, name: str, default: date | None = None) -> date:
        given = self.options.get(name)
        if given is None and default is not None:
            return default
        text = str(given)
        if not _DAY.match(text):
            told = f"{name} is a day such as 2026-05-20, not {text[:40]!r}"
            raise QueryError("bad_value", told, field=name, allowed=[])
        return date.fromisoformat(text[:10])

    @property
    def servings(self) -> float | None:
        given = self.options.get("servings")
        return None if given is None else float(given)


def compute_functions(staples: Iterable[str] = STAPLES) -> dict[str, ComputeFunction]:
    """Return every function by its name; `staples` is what every kitchen has."""
    kept = tuple(staples)
    return {
        name: ComputeFunction(name, summary, needs, _bound(work, kept), _subject(needs))
        for name, (summary, needs, work) in _FUNCTIONS.items()
    }


def _bound(work: "Callable[[_Given], Mapping[str, Any]]", staples: tuple[str, ...]) -> Run:
    return lambda tables, _who, options: work(_Given(tables, options, staples))


def _match(given: _Given) -> Mapping[str, Any]:
    options = MatchOptions(
        today=given.day("today"),
        max_missing=given.options.get("max_missing"),
        soon_days=int(given.options.get("days", SOON_DAYS)),
        staples=staple_keys(given.staples),
        limit=given.options.get("limit"),
    )
    return match_recipes(
        given.rows("recipes"), given.rows("inventory_items"), given.eater, options, given.catalogue
    )


def _missing(given: _Given) -> Mapping[str, Any]:
    stock = given.rows("inventory_items")
    return missing_ingredients(given.recipe, stock, given.servings, given.catalogue, given.staples)


def _scaled(given: _Given) -> Mapping[str, Any]:
    own = given.recipe.get("servings") or 1
    return scale_recipe(given.recipe, given.servings if given.servings is not None else float(own))


def _aggregate(given: _Given) -> Mapping[str, Any]:
    by_id = {str(row.get("id")): row for row in given.rows("recipes")}
    planned = [
        {"recipe": by_id[str(meal["recipe_id"])], "servings": meal.get("servings")}
        for meal in given.rows("meal_plans")
        if str(meal.get("recipe_id")) in by_id
    ]
    return aggregate_shopping(
        planned or given.rows("recipes"),
        given.rows("inventory_items"),
        given.rows("shopping_items"),
        given.catalogue,
        given.staples,
    )


def _grouped(given: _Given) -> Mapping[str, Any]:
    wanted = given.options.get("organization") or given.profile.get("list_organization")
    return group_shopping(
        given.rows("shopping_items"), str(wanted or "by_category"), given.catalogue
    )


def _expiring(given: _Given) -> Mapping[str, Any]:
    days = int(given.options.get("days", SOON_DAYS))
    return expiring_soon(given.rows("inventory_items"), given.day("today"), days, given.catalogue)


def _open_slots(given: _Given) -> Mapping[str, Any]:
    first = given.day("first", given.day("today"))
    return open_slots(
        first,
        given.day("last", first + timedelta(days=6)),
        given.options.get("meal_types") or ("dinner",),
        given.rows("meal_plans"),
        given.profile.get("cooking_days") or (),
    )


def _deducted(given: _Given) -> Mapping[str, Any]:
    stock = given.rows("inventory_items")
    return deduct_inventory(given.recipe, given.servings, stock, given.catalogue, given.staples)


def _checked(given: _Given) -> Mapping[str, Any]:
    eater = given.eater
    found = [
        {"name": row.get("name"), "kind": each.kind, "subject": each.subject, "detail": each.detail}
        for row in given.rows("recipes")
        for each in check_for(eater, row)
    ]
    return {"objections": found, "is_safe": not found}


def _counted(given: _Given) -> Mapping[str, Any]:
    table = str(given.options.get("table") or _first_filled(given.tables))
    return category_counts(given.rows(table), given.catalogue)


def _first_filled(tables: Tables) -> str:
    return next((name for name, rows in tables.items() if rows and name != "ingredients"), "")


def _cooked(given: _Given) -> Mapping[str, Any]:
    first = given.day("first") if given.options.get("first") else None
    last = given.day("last") if given.options.get("last") else None
    return cooking_stats(given.rows("cooking_log"), first, last)


def _subject(needs: tuple[str, ...]) -> str:
    """Return what a function is about: an empty plan is all open, no recipes are nothing."""
    return "recipes" if "recipes" in needs else ""


_FUNCTIONS: Final[
    Mapping[str, tuple[str, tuple[str, ...], Callable[[_Given], Mapping[str, Any]]]]
] = {
    "match_recipes": (
        "which recipes can be cooked with what is in stock, and what each lacks",
        ("recipes", "inventory_items"),
        _match,
    ),
    "missing_ingredients": (
        "what one recipe needs, what is there of it, what is to be bought",
        ("recipes", "inventory_items"),
        _missing,
    ),
    "scale_recipe": ("one recipe for another number of servings", ("recipes",), _scaled),
    "aggregate_shopping": (
        "one shopping list for several recipes or a plan",
        ("recipes", "inventory_items"),
        _aggregate,
    ),
    "group_shopping": ("the shopping list by aisle or category", ("shopping_items",), _grouped),
    "expiring_soon": ("what expires in the next days", ("inventory_items",), _expiring),
    "low_stock": (
        "what runs low",
        ("inventory_items",),
        lambda given: low_stock(given.rows("inventory_items"), given.catalogue),
    ),
    "open_slots": ("which meals are not planned yet", ("meal_plans",), _open_slots),
    "deduct_inventory": (
        "what cooking a recipe takes from stock",
        ("recipes", "inventory_items"),
        _deducted,
    ),
    "check_constraints": (
        "whether recipes fit allergies, diet and what is avoided",
        ("recipes",),
        _checked,
    ),
    "category_counts": ("how many rows there are of each category", (), _counted),
    "cooking_stats": ("what was cooked how often", ("cooking_log",), _cooked),
}
_SAFETY: Final = "user_profile"
# Who must not eat what is looked up in the profile, so that a plan cannot forget it.
_CHECKED: Final = frozenset({"match_recipes", "check_constraints"})
# What comes of these is cooked or bought by: the warnings of the recipes go along.
_MINDED: Final = frozenset({"scale_recipe", "missing_ingredients", "aggregate_shopping"})
_OVER_LINES: Final = _CHECKED | _MINDED | {"deduct_inventory"}


def kitchen_functions(today: Callable[[Who], str]) -> dict[str, ComputeFunction]:
    """Return the functions a plan may name; `today` tells what day it is for somebody."""
    return {name: _ready(function, today) for name, function in compute_functions().items()}


def _ready(function: ComputeFunction, today: Callable[[Who], str]) -> ComputeFunction:
    name, needs = function.name, function.needs
    if name in _CHECKED and _SAFETY not in needs:
        needs = (*needs, _SAFETY)

    def run(tables: Tables, who: Who, options: Options) -> Mapping[str, Any]:
        given = _with_drafts(tables, options) if name in _OVER_LINES else tables
        if name in _OVER_LINES:
            _refuse_lineless(given)
        done = function.run(given, who, {"today": today(who), **options})
        return with_mind(done, given.get("recipes", ())) if name in _MINDED else done

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
    names = {"plan_date": "date", "meal_type": "meal_type", "recipe_id": "recipe_ref"}
    return {ours: entry.get(its) for ours, its in {**names, "servings": "servings"}.items()}


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
