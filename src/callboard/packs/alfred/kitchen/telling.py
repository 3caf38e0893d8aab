"""Telling: how people name a row, its table and a change of it. Remarks are the rules'."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from callboard.choreography.turn.domain import Row
from callboard.choreography.turn.domain_parts import TableWords
from callboard.choreography.turn.requests import WriteOp, WriteRequest, WriteResult
from callboard.packs.alfred.kitchen.compute.amounts import spoken_amount


def label_of(entity_type: str, row: Row) -> str:
    """Return how people name a row or a draft."""
    match entity_type:
        case "task":
            return str(row.get("description") or "")
        case "meal_plan":
            return _plan_label(row)
        case _:
            return str(row.get("name") or row.get("label") or "")


def tags_of(entity_type: str, row: Row) -> tuple[str, ...]:
    """Return the words a row or a draft is also known by."""
    if entity_type == "task":
        return _words(row.get("kind"), row.get("status"))
    if entity_type == "meal_plan":
        return _words(row.get("meal_type"))
    tags: Any = row.get("tags")
    listed = cast("list[Any]", tags) if isinstance(tags, list) else []
    words = [cast("Row", t).get("tag") if isinstance(t, Mapping) else t for t in listed]
    return _words(row.get("cuisine"), row.get("course"), *words)


def slot_of(entity_type: str, row: Row) -> str | None:
    """Return the place a row takes, which only one thing can have: a meal of a day."""
    if entity_type != "meal_plan" or not row.get("plan_date"):
        return None
    return f"{row['plan_date']}/{row.get('meal_type') or 'dinner'}/{row.get('position') or 0}"


def _plan_label(row: Row) -> str:
    entries: Any = row.get("entries")
    if isinstance(entries, list) and entries:
        listed = cast("list[Row]", entries)
        days = sorted(str(each.get("date")) for each in listed)
        meals = f"{len(listed)} meal{'s' if len(listed) > 1 else ''}"
        return f"Plan of {meals}, {days[0]} to {days[-1]}"
    recipe: Any = row.get("recipe")
    name = cast("Row", recipe).get("name") if isinstance(recipe, Mapping) else None
    what = name or row.get("note") or ""
    return f"{row.get('plan_date')} {row.get('meal_type') or 'dinner'}: {what}".rstrip(": ")


def _words(*values: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(each) for each in values if each))


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
    "aggregate_shopping.as_written": TableWords(
        "taken as written, because nobody knows for how many they are"
    ),
    **{
        f"{name}.mind": TableWords("mind")
        for name in ("scale_recipe", "missing_ingredients", "aggregate_shopping")
    },
}
# A recipe that was scaled is told by these; the rest of it nobody asked for.
_SCALED: Final = frozenset({"mind", "name", "servings", "ingredients"})


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
    return ", ".join(each for each in labels if each) or f"{len(labels)} things"
