"""Telling: what people call the kitchen's tables, and its changes in a cook's words."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from callboard.choreography.turn.domain import Row, TableWords
from callboard.choreography.turn.requests import WriteOp, WriteRequest, WriteResult
from callboard.packs.alfred.kitchen.compute.amounts import spoken_amount

_MOST_NAMES: Final = 6
_PLACES: Final[Mapping[str, TableWords]] = {
    "recipes": TableWords("your recipes"),
    "recipe_ingredients": TableWords("the ingredients of your recipes"),
    "recipe_steps": TableWords("the steps of your recipes"),
    "inventory_items": TableWords("your kitchen"),
    "shopping_items": TableWords("the shopping list", "on"),
    "meal_plans": TableWords("the meal plan", "on"),
    "tasks": TableWords("your tasks", "among"),
    "cooking_log": TableWords("the cooking log"),
    "user_profile": TableWords("your profile"),
    "match_recipes.matches": TableWords("what you can make"),
    "match_recipes.blocked": TableWords("left out, because somebody here must not eat it"),
    "missing_ingredients.missing": TableWords("missing"),
    "aggregate_shopping.items": TableWords("to buy"),
    "expiring_soon.items": TableWords("to be used soon"),
    "low_stock.items": TableWords("running low"),
    # Whoever sees the list can count.
    **{
        f"{name}.count": TableWords("")
        for name in ("aggregate_shopping", "expiring_soon", "low_stock", "open_slots")
    },
    "expiring_soon.until": TableWords(""),
    "missing_ingredients.servings": TableWords(""),
}
# A recipe that was scaled is told by these; the rest of it nobody asked for.
_SCALED: Final = frozenset({"name", "servings", "ingredients"})


def table_words(table: str) -> TableWords | None:
    """Return how people call a table, or a list that arithmetic brings."""
    function, _, name = table.partition(".")
    if function == "scale_recipe" and name not in _SCALED:
        return TableWords("")
    return _PLACES.get(table)


def tell_write(request: WriteRequest, result: WriteResult) -> str | None:
    """Return a change in a cook's words, or None where the plain form says it."""
    match result.table:
        case "user_profile":
            return _profile(request, result)
        case "meal_plans" if result.op in (WriteOp.CREATE, WriteOp.UPSERT):
            return f"Planned {_named(result.labels)}"
        case "shopping_items" if request.set.get("status") == "purchased":
            return f"Ticked off {_named(result.labels)}"
        case "tasks" if request.set.get("status") == "done":
            return f"Done: {_named(result.labels)}"
        case "inventory_items" if request.set.get("quantity") is not None:
            return f"Updated {_left(result)}"
        case "recipes" if result.op is WriteOp.CREATE:
            return f"Saved {_named(result.labels)} to your recipes"
        case _:
            return None


def _profile(request: WriteRequest, result: WriteResult) -> str | None:
    record: Row = request.records[0] if request.records else request.set
    row = result.rows[0] if result.rows else {}
    said = [
        f"{name.replace('_', ' ')}: {_value(row.get(name))}"
        for name in record
        if name in row and name != "onboarding_state"
    ]
    return f"Noted in your profile: {'; '.join(said)}" if said else None


def _left(result: WriteResult) -> str:
    pairs = zip(result.labels, result.rows, strict=False)
    return ", ".join(
        f"{label} (now {spoken_amount(row.get('quantity'), row.get('unit'))})"
        for label, row in pairs
    )


def _value(value: Any) -> str:
    match value:
        case None | [] | "":
            return "none"
        case list():
            listed: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]
            return ", ".join(str(each).replace("_", " ") for each in listed)
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:g}"
        case _:
            return str(value).replace("_", " ")


def _named(labels: Sequence[str]) -> str:
    shown = [each for each in labels if each]
    rest = len(shown) - _MOST_NAMES
    listed = ", ".join(shown[:_MOST_NAMES])
    return f"{listed} and {rest} more" if rest > 0 else listed or f"{len(labels)} things"
