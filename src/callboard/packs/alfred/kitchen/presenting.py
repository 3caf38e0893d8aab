"""Presenting: rows and drafts as people read them. Names, amounts and days; no ids, no columns."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, Final, cast

from callboard.choreography.turn.domain import Row
from callboard.packs.alfred.kitchen.compute.amounts import (
    counted_name,
    kitchen_fraction,
    unit_word,
    with_own_words,
)
from callboard.packs.alfred.kitchen.compute.shortages import group_shopping
from callboard.packs.alfred.kitchen.food.foods import category_words
from callboard.packs.alfred.kitchen.generation.content import PLAN


def present_rows(table: str, rows: Sequence[Row], organization: str) -> list[str] | None:
    """Return rows as lines, or None for tables that have no lines of their own."""
    if table == "shopping_items":
        return _shopping(rows, organization)
    if table == "recipes":
        return _recipes(rows)
    if table == "match_recipes.blocked":
        return _blocked(rows)
    if table in _UNSAID:
        return []
    if table == "scale_recipe.ingredients":
        return _by_part(rows)
    if table in _TO_BUY and not rows:
        return ["- nothing, all of it is there"]
    line = _LINES.get(table)
    return None if line is None else [each for row in rows for each in line(row)]


def present_content(content_type: str, content: Row) -> str:
    """Return a draft as the user reads it."""
    if content_type == PLAN:
        entries = cast("Sequence[Row]", content.get("entries") or ())
        return "\n".join(_entry(entry) for entry in entries)
    return present_recipe(content)


def present_recipe(recipe: Row) -> str:
    """Return a whole recipe: what goes in, and how it is made."""
    lines = [f"Mind: {each}." for each in recipe.get("mind") or ()]
    lines.append(_headline(recipe))
    lines += _by_part(_listed(recipe, "ingredients"))
    steps = _listed(recipe, "steps")
    lines += [f"{number}. {_step(each)}" for number, each in enumerate(steps, 1)]
    return "\n".join(line for line in lines if line)


def _by_part(lines: Sequence[Row]) -> list[str]:
    """Return the lines of a recipe; each of its lists stands under its own heading."""
    told: list[str] = []
    part = ""
    for line in lines:
        own = str(line.get("part") or "")
        if own != part:
            told.append(f"{own or 'Besides'}:")
            part = own
        told.append(_line(line))
    return told


def meal_line(row: Row) -> str:
    """Return a planned meal as a line."""
    recipe: Any = row.get("recipe")
    name = cast("Row", recipe).get("name") if isinstance(recipe, Mapping) else None
    what = name or row.get("note") or "something"
    status = f" ({row['status']})" if row.get("status") in ("cooked", "skipped") else ""
    return f"- {_day(str(row.get('plan_date') or ''))}, {row.get('meal_type')}: {what}{status}"


def amount(quantity: Any, unit: Any) -> str:
    """Return an amount in words: `1½ cup`, `6`, or nothing."""
    if quantity is None or quantity == "":
        return ""
    if isinstance(quantity, str):
        return quantity
    number = float(quantity)
    shown = _weighed(number) if unit in _WEIGHED else kitchen_fraction(number)
    return f"{shown} {unit_word(number, str(unit))}" if unit else shown


def _weighed(number: float) -> str:
    """Return a number as scales show it."""
    return f"{number:.0f}" if number >= _EXACT_BELOW else f"{round(number, 2):g}"


def _shopping(rows: Sequence[Row], organization: str) -> list[str]:
    if organization not in ("by_aisle", "by_category") or not rows:
        return [_item(row) for row in rows]
    grouped = group_shopping(rows, organization)
    groups = cast("Mapping[str, Sequence[Row]]", grouped["groups"])
    lines: list[str] = []
    for name, items in groups.items():
        lines.append(f"{category_words(name).capitalize()}:")
        lines += [_item(row) for row in items]
    return lines


def _item(row: Row) -> str:
    beside = [amount(row.get("quantity"), row.get("unit"))]
    beside += [str(row["status"]).replace("_", " ")] if row.get("status") == "in_cart" else []
    return _with(str(row.get("name") or ""), beside)


def _stock(row: Row) -> str:
    known: Any = row.get("ingredient")
    name = cast("Row", known).get("name") if isinstance(known, Mapping) else row.get("name")
    beside = [amount(row.get("quantity"), row.get("unit")), str(row.get("location") or "")]
    if row.get("expires_on"):
        beside.append(f"until {row['expires_on']}")
    return _with(str(name or ""), beside)


def _recipes(rows: Sequence[Row]) -> list[str]:
    if len(rows) == 1 and "steps" in rows[0]:
        return present_recipe(rows[0]).splitlines()
    lines: list[str] = []
    for row in rows:
        lines.append(f"- {_headline(row)}")
        lines += [f"  Mind: {each}." for each in row.get("mind") or ()]
    return lines


def _headline(recipe: Row) -> str:
    beside = [f"{recipe['servings']:g} servings"] if recipe.get("servings") else []
    beside += [f"makes {recipe['yields']}"] if recipe.get("yields") else []
    total = recipe.get("total_minutes")
    if total is None:
        times = [recipe.get("prep_minutes"), recipe.get("cook_minutes")]
        known = [int(each) for each in times if each is not None]
        total = sum(known) if known else None
    beside += [f"{total} min"] if total is not None else []
    beside += [str(recipe["cuisine"])] if recipe.get("cuisine") else []
    beside += [f"{recipe['rating']} stars"] if recipe.get("rating") else []
    name = str(recipe.get("name") or "")
    return f"{name} ({', '.join(beside)})" if beside else name


def _line(line: Row) -> str:
    known: Any = line.get("ingredient")
    inner = cast("Row", known).get("name") if isinstance(known, Mapping) else known
    name = str(line.get("name") or inner or line.get("raw_text") or "")
    name = counted_name(line.get("quantity"), line.get("unit"), name)
    shown = line.get("shown")
    text = (
        f"{shown} {line.get('unit') or ''}"
        if shown
        else amount(line.get("quantity"), line.get("unit"))
    )
    rest = [str(line["preparation"])] if line.get("preparation") else []
    if isinstance(line.get("quantity"), str):
        text, rest = "", [*rest, str(line["quantity"])]
    rest += ["optional"] if line.get("optional") else []
    said = " ".join(f"{text} {name}".split())
    if rest:
        said = f"{said}, {', '.join(rest)}"
    return f"- {with_own_words(said, line.get('raw_text'), is_scaled='shown' in line)}"


def _step(step: Row) -> str:
    minutes = step.get("minutes")
    return f"{step.get('text')} ({minutes} min)" if minutes else str(step.get("text"))


def _task(row: Row) -> str:
    due = str(row.get("due_at") or "")[:16].replace("T", " ")
    beside = [f"due {due} UTC"] if due else []
    beside += [str(row["status"])] if row.get("status") not in (None, "open") else []
    return _with(str(row.get("description") or ""), beside)


def _cooked(row: Row) -> str:
    beside = [str(row.get("cooked_at") or "")[:10]]
    beside += [f"{row['rating']} stars"] if row.get("rating") else []
    return _with(str(row.get("recipe_name") or ""), beside)


def _profile(row: Row) -> list[str]:
    shown = ("allergies", "diet", "eaters", "dislikes", "favorite_cuisines", "household_size",
             "cooking_frequency", "cooking_days", "planning_horizon", "list_organization",
             "task_granularity", "unit_system")  # fmt: skip
    lines: list[str] = []
    for name in shown:
        value = row.get(name)
        text = (
            ", ".join(map(str, cast("list[Any]", value))) if isinstance(value, list) else str(value)
        )
        lines.append(f"- {name.replace('_', ' ')}: {text.replace('_', ' ') or 'none'}")
    return lines


def _match(row: Row) -> str:
    missing = [str(each) for each in row.get("missing") or ()]
    short = [str(cast("Row", each).get("name", each)) for each in row.get("short") or ()]
    beside = [f"{row['total_minutes']} min"] if row.get("total_minutes") else []
    lacking = [*missing, *(f"more {name}" for name in short)]
    beside.append(f"missing: {', '.join(lacking)}" if lacking else "everything is there")
    return _with(str(row.get("name") or ""), beside)


def _blocked(rows: Sequence[Row]) -> list[str]:
    return [
        f"- {row.get('name')} ({', '.join(str(each) for each in row.get('blocked_by') or ())})"
        for row in rows
    ]


def _to_buy(row: Row) -> str:
    quantity = row.get("to_buy") if "to_buy" in row else row.get("quantity")
    beside = [amount(quantity, row.get("unit"))]
    if row.get("unit_mismatch"):
        beside.append("yours is measured in another unit")
    return _with(str(row.get("name") or ""), beside)


def _entry(entry: Row) -> str:
    what = entry.get("label") or entry.get("note") or entry.get("recipe_ref") or ""
    servings = f" for {entry['servings']:g}" if entry.get("servings") else ""
    meal = entry.get("meal_type") or "dinner"
    return f"- {_day(str(entry.get('date')))}, {meal}: {what}{servings}"


def _day(text: str) -> str:
    try:
        day = date.fromisoformat(text[:10])
    except ValueError:
        return text
    return f"{day:%a} {day.isoformat()}"


def _with(name: str, beside: Sequence[str]) -> str:
    said = [each for each in beside if each]
    return f"- {name} ({', '.join(said)})" if said else f"- {name}"


def _listed(row: Row, key: str) -> Sequence[Row]:
    value: Any = row.get(key)
    return cast("Sequence[Row]", value) if isinstance(value, list | tuple) else ()


# What arithmetic gives besides its answer.
_UNSAID: Final = frozenset({"missing_ingredients.lines", "scale_recipe.steps", "scale_recipe.tags"})
_TO_BUY: Final = frozenset({"missing_ingredients.missing", "aggregate_shopping.items"})
_EXACT_BELOW: Final = 10
_WEIGHED: Final = frozenset({"g", "kg", "mg", "ml", "cl", "dl", "l", "oz", "lb"})
_LINES: Final[Mapping[str, Callable[[Row], list[str]]]] = {
    "inventory_items": lambda row: [_stock(row)],
    "meal_plans": lambda row: [meal_line(row)],
    "tasks": lambda row: [_task(row)],
    "cooking_log": lambda row: [_cooked(row)],
    "user_profile": _profile,
    "match_recipes.matches": lambda row: [_match(row)],
    "missing_ingredients.missing": lambda row: [_to_buy(row)],
    "aggregate_shopping.items": lambda row: [_to_buy(row)],
}
