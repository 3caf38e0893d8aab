"""Naming: what people call a recipe, a planned meal, a task; its tags, and the place it takes."""

from collections.abc import Mapping
from typing import Any, cast

from callboard.choreography.turn.domain import Row


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
