"""Asking: what needs the user's word before it is written, and how rows are called then."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from callboard.choreography.turn.requests import WriteError, WriteOp
from callboard.knowledge.entities.matching import name_key
from callboard.library.relational.dates import WriteMoment, is_token, resolve_date
from callboard.library.relational.tables import Described, Tables
from callboard.packs.alfred.kitchen.food.diets import canonical_allergies, canonical_diets
from callboard.packs.alfred.kitchen.food.household import (
    is_known_food,
    nearest_allergen,
    read_limits,
)
from callboard.packs.alfred.kitchen.food.naming import objection
from callboard.packs.alfred.kitchen.rules.joining import Merge


def recipe_named(moment: WriteMoment, tables: Tables, name: str) -> Mapping[str, Any] | None:
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


Row = Mapping[str, Any]


def label_of_row(moment: WriteMoment, tables: Tables, table: Described, row: Row) -> str:
    """Return how people name a row."""
    match table.name:
        case "inventory_items":
            return _name_in(moment, tables, "ingredients", row.get("ingredient_id"))
        case "meal_plans":
            return meal_label(moment, tables, row)
        case "user_profile":
            return "your profile"
        case _:
            return str(row.get(table.label) or row.get("id") or "")


def meal_label(moment: WriteMoment, tables: Tables, row: Row) -> str:
    """Return a planned meal as `dinner on 2026-05-21: Lentil Soup`."""
    recipe = row.get("recipe_id")
    what = _name_in(moment, tables, "recipes", recipe) if recipe else str(row.get("note") or "")
    return f"{row.get('meal_type')} on {row.get('plan_date')}: {what}"


def _name_in(moment: WriteMoment, tables: Tables, table: str, row_id: Any) -> str:
    from sqlalchemy import select

    columns: Any = tables[table].table.c
    found = moment.connection.execute(select(columns.name).where(columns.id == row_id)).scalar()
    return "" if found is None else str(found)


Values = dict[str, Any]


def reasons_to_ask(
    merge: Merge, table: str, op: WriteOp, rows: Sequence[Values], values: Values
) -> list[str]:
    """Return why the human is asked first."""
    moment, tables = merge.moment, merge.tables
    match table:
        case "recipes" if op is WriteOp.DELETE:
            return _archiving(moment, tables, rows)
        case "meal_plans" if op is not WriteOp.DELETE:
            return _overwriting(merge, rows, values)
        case "user_profile" if op is not WriteOp.DELETE:
            return _limiting(merge, rows, values)
        case "cooking_log" if op is WriteOp.DELETE:
            return _forgetting(rows)
        case "cooking_log" if op is WriteOp.UPDATE:
            return _deducting_again(rows, values)
        case _:
            return []


def future_meals(moment: WriteMoment, tables: Tables, recipe_id: str) -> list[Values]:
    """Return the meals from today on that plan a recipe."""
    from sqlalchemy import select

    meals = tables["meal_plans"].table
    query = (
        select(meals)
        .where(
            meals.c.user_id == moment.who.user_id,
            meals.c.recipe_id == recipe_id,
            meals.c.status == "planned",
            meals.c.plan_date >= moment.today.day.isoformat(),
        )
        .order_by(meals.c.plan_date, meals.c.meal_type, meals.c.position)
    )
    return [dict(row) for row in moment.connection.execute(query).mappings()]


def _archiving(moment: WriteMoment, tables: Tables, rows: Sequence[Values]) -> list[str]:
    reasons: list[str] = []
    for row in rows:
        days = [str(meal["plan_date"]) for meal in future_meals(moment, tables, str(row["id"]))]
        if days:
            reasons.append(f"{row['name']!r} is planned for {', '.join(dict.fromkeys(days))}")
    if rows:
        what = repr(rows[0]["name"]) if len(rows) == 1 else f"{len(rows)} recipes"
        reasons.append(f"{what} would be put away")
    return reasons


def _overwriting(merge: Merge, rows: Sequence[Values], values: Values) -> list[str]:
    today = merge.moment.today
    placed = dict(values)
    if is_token(placed.get("plan_date")):
        placed["plan_date"] = resolve_date(placed["plan_date"], today, as_moment=False)
    wanted: list[tuple[Values, Any]] = [({**row, **placed}, row["id"]) for row in rows]
    if rows and not {"plan_date", "meal_type", "position"} & placed.keys():
        return []
    if not rows and "plan_date" in placed:
        wanted = [(placed, None)]
    reasons: list[str] = []
    for slot, own in wanted:
        there = merge.occupied({**slot, "meal_type": _meal_type(slot)})
        if there is not None and there["id"] != own:
            label = meal_label(merge.moment, merge.tables, there)
            reasons.append(f"{label} would be replaced")
    return reasons


def _meal_type(values: Mapping[str, Any]) -> str:
    return str(values.get("meal_type") or "dinner").strip().casefold()


LIMITING: Final = frozenset({"allergies", "diet", "eaters"})
"""The columns of a profile that say what must not be eaten."""


def _limiting(merge: Merge, rows: Sequence[Values], values: Values) -> list[str]:
    joined = None if rows else merge.joined("user_profile", values)
    before = rows[0] if rows else (joined.row if joined else None)
    reasons = _unknown(before or {}, values)
    return reasons if before is None else [*loosened(before, values), *reasons]


def loosened(before: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    """Return which limits would no longer hold."""
    reasons: list[str] = []
    for column, canonical in (
        ("allergies", canonical_allergies),
        ("diet", canonical_diets),
        ("eaters", _limit_lines),
    ):
        given = values.get(column)
        if not isinstance(given, list):
            continue
        kept = canonical(cast("list[Any]", given))
        gone = [each for each in before.get(column) or () if each not in kept]
        if gone:
            whose = "among your" if column != "eaters" else "among the limits of your"
            reasons.append(f"{', '.join(gone)} would no longer be {whose} {column}")
    return reasons


def _limit_lines(given: list[Any]) -> list[str]:
    return [each.line() for each in read_limits(given)]


def _unknown(before: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    """Return what is said about allergens that nobody here knows."""
    given: Any = values.get("allergies")
    listed = canonical_allergies(cast("list[Any]", given)) if isinstance(given, list) else []
    eaters: Any = values.get("eaters")
    if isinstance(eaters, list):
        found = read_limits(cast("list[Any]", eaters))
        listed += [each.subject for each in found if each.kind == "allergy"]
    known = {
        *(before.get("allergies") or ()),
        *(e.subject for e in read_limits(before.get("eaters") or ())),
    }
    fresh = [each for each in listed if each not in known]
    for each in fresh:
        _refuse_sentence(each)
    return [_asked_about(each) for each in fresh if not is_known_food(each)]


def _refuse_sentence(allergen: str) -> None:
    """Refuse to keep a sentence as what somebody must not eat, even one that names a food."""
    why = objection(allergen)
    if why:
        raise WriteError(
            "validation",
            f"{allergen[:60]!r} is no name of a food: {why}",
            column="allergies",
            value=allergen[:60],
            hint="Give the food alone.",
        )


def _asked_about(allergen: str) -> str:
    meant = nearest_allergen(allergen)
    guess = f"did you mean {meant}?" if meant else "only that very word would be looked for."
    return f"Nobody here knows an allergen called {allergen!r}: {guess}"


def _forgetting(rows: Sequence[Values]) -> list[str]:
    if len(rows) > 1:
        raise WriteError(
            "limit",
            f"{len(rows)} entries of the cooking log would be deleted; they go one at a time",
            hint="Name the one entry.",
        )
    return []


def _deducting_again(rows: Sequence[Values], values: Values) -> list[str]:
    if values.get("inventory_deducted") and any(row["inventory_deducted"] for row in rows):
        raise WriteError(
            "conflict",
            "What that took from the inventory is already taken",
            column="inventory_deducted",
            hint="Undo it first.",
        )
    return []
