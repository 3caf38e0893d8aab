"""Showing what there is: the list, the house, recipes, plans, tasks, the log, preferences."""

import re
from collections.abc import Callable
from typing import Any, Final

from callboard.choreography.turn.domain import Routed
from callboard.packs.alfred.kitchen.router.dates import BARE_WEEKDAY, Days, read_days
from callboard.packs.alfred.kitchen.router.meals import planned_day
from callboard.packs.alfred.kitchen.router.recipes import recipe_filters
from callboard.packs.alfred.kitchen.router.situation import (
    INVENTORY,
    SHOPPING,
    Situation,
    StockTarget,
    among,
    between,
    find_target,
    present,
    same,
)
from callboard.packs.alfred.kitchen.router.words import forms, kinds, read_item

_FORMS: Final = forms("showing")

MOST_SHOWN: Final = 200


async def route_showing(situation: Situation) -> Routed | None:
    """Route what somebody wants to see."""
    text = situation.text
    inside = _FORMS["in"].match(text)
    if inside is not None:
        return _everything(situation, find_target(inside["target"]))
    for pattern, target in ((_FORMS["stock"], INVENTORY), (_FORMS["to_buy"], SHOPPING)):
        if pattern.match(text):
            return _everything(situation, target)
    return (
        _first(situation, _expiring, _having, _tasks)
        or await _plan(situation)
        or _first(situation, _log, _profile, _recipes)
        or await _one_recipe(situation)
    )


def _first(situation: Situation, *routes: Callable[[Situation], Routed | None]) -> Routed | None:
    return next((found for route in routes if (found := route(situation)) is not None), None)


def _everything(situation: Situation, target: StockTarget) -> Routed:
    if target.table == "tasks":
        return _read(situation, "Show open tasks", "tasks", among("status", ["open"]))
    details: dict[str, Any] = {"include": ["ingredient"]}
    if target.table == SHOPPING.table:
        details["order_by"] = [{"column": "category"}, {"column": "name"}]
    else:
        details["order_by"] = [{"column": "location"}, {"column": "expires_on"}]
    what = f"Show the {target.title}"
    return _read(situation, what, target.table, *target.scope, **details)


def _expiring(situation: Situation) -> Routed | None:
    found = _FORMS["expiring"].match(situation.text)
    if found is None:
        return None
    days = read_days(found["when"], situation.today) if found["when"] else None
    until = "@today+3d" if days is None else days.end.isoformat()
    soon = {"field": "expires_on", "op": "lte", "value": until}
    return _read(
        situation, "Show what expires soon", "inventory_items", soon,
        include=["ingredient"], order_by=[{"column": "expires_on"}],
    )  # fmt: skip


def _having(situation: Situation) -> Routed | None:
    found = _FORMS["have"].match(situation.text)
    if found is None:
        return None
    item = read_item(found["thing"] or found["other"] or "")
    if item is None or re.search(
        r"\b(?:recipes?|tasks?|plans?|to|everything|anything|something|for)\b", item.name, re.I
    ):
        return None
    if found["bare"] and not situation.asked.message.rstrip().endswith("?"):
        # "Got milk" without asking tells of it.
        return None
    filters = [{"field": "ingredient.name", "op": "ilike", "value": f"%{_core(item.name)}%"}]
    if found["place"]:
        filters.append(same("location", found["place"].casefold()))
    return _read(
        situation, f"See whether there is {item.name}", "inventory_items", *filters,
        include=["ingredient"],
    )  # fmt: skip


def _core(name: str) -> str:
    """Return a name so that it is found within longer ones: singular, signs as they are."""
    from callboard.knowledge.entities.matching import name_key

    return _plain(name_key(name))


def _plain(text: str) -> str:
    """Return a text without the signs that stand for anything."""
    return text.replace("%", "").replace("*", "")


def _tasks(situation: Situation) -> Routed | None:
    if not _FORMS["tasks"].match(situation.text):
        return None
    return _read(
        situation, "Show open tasks", "tasks", among("status", ["open"]),
        order_by=[{"column": "due_at"}],
    )  # fmt: skip


async def _plan(situation: Situation) -> Routed | None:
    found = _FORMS["plan"].match(situation.text)
    if found is None:
        return None
    said = " ".join(part for part in found.groups() if part).strip()
    days = read_days(said or "this week", situation.today)
    meal = _meal_in(said)
    if days is None and meal is None:
        return None
    named = _FORMS["lone_word"].search(said)
    if named is not None and BARE_WEEKDAY.fullmatch(named["day"]):
        # On a Friday of which nothing is planned, the Friday after is meant.
        day = await planned_day(situation, named["day"], meal)
        days = days if day is None else Days(day, day)
    filters: list[dict[str, Any]] = []
    if not said and days is not None:
        # Without a time the plan is what is still to come, next week's meals too.
        filters.append({"field": "plan_date", "op": "gte", "value": days.start.isoformat()})
    elif days is not None:
        filters.append(between("plan_date", days.start.isoformat(), days.end.isoformat()))
    else:
        filters.append(same("plan_date", "@today"))
    if meal is not None:
        filters.append(same("meal_type", meal))
    return _read(
        situation, "Show what is planned", "meal_plans", *filters,
        include=["recipe"], order_by=[{"column": "plan_date"}, {"column": "meal_type"}],
    )  # fmt: skip


def _log(situation: Situation) -> Routed | None:
    found = _FORMS["log"].match(situation.text)
    if found is None:
        return None
    return _read(
        situation, "Show what was cooked", "cooking_log", *_past(found["when"]),
        order_by=[{"column": "cooked_at", "dir": "desc"}], limit=20,
    )  # fmt: skip


def _past(said: str | None) -> list[dict[str, Any]]:
    folded = (said or "").casefold()
    if "yesterday" in folded:
        return [
            {"field": "cooked_at", "op": "gte", "value": "@today-1d"},
            {"field": "cooked_at", "op": "lt", "value": "@today"},
        ]
    for word, since, until in (
        ("last week", "@week_start-7d", "@week_start"),
        ("this week", "@week_start", None),
        ("this month", "@month_start", None),
        ("today", "@today", None),
    ):
        if word in folded:
            bounds = [{"field": "cooked_at", "op": "gte", "value": since}]
            return bounds + ([{"field": "cooked_at", "op": "lt", "value": until}] if until else [])
    return []


def _profile(situation: Situation) -> Routed | None:
    if not _FORMS["profile"].match(situation.text):
        return None
    return _read(situation, "Show preferences", "user_profile")


def _recipes(situation: Situation) -> Routed | None:
    found = _FORMS["recipes"].match(situation.text)
    if found is None:
        return None
    chosen = recipe_filters(found["adj"], found["rest"] or "")
    if chosen is None:
        return None
    is_archived = re.search(r"\b(?:archived|deleted)\b", found["adj"], re.I) is not None
    if is_archived:
        chosen.append(present("archived_at"))
    return _read(
        situation, "Show recipes", "recipes", *chosen,
        include=["tags"], order_by=[{"column": "name"}], include_archived=is_archived,
    )  # fmt: skip


async def _one_recipe(situation: Situation) -> Routed | None:
    found = _FORMS["recipe"].match(situation.text)
    if found is None:
        return None
    name = next(part for part in found.groups() if part)
    if len(name) > 120:
        return None
    rows = await situation.rows(
        table="recipes", columns=["id", "name"], filters=[same("name", name)], limit=2
    )
    if not rows and found["name"] is not None:
        return None
    wanted = (
        same("name", name)
        if rows
        else {
            "field": "name",
            "op": "ilike",
            "value": f"%{name.replace('%', '').replace('*', '')}%",
        }
    )
    return _read(
        situation, f"Show the recipe for {name}", "recipes", wanted,
        include=["ingredients", "steps", "tags"], limit=10,
    )  # fmt: skip


def _meal_in(text: str) -> str | None:
    for word in re.findall(r"\w+", text.casefold()):
        if word in kinds("meals"):
            return kinds("meals")[word]
    return None


def _read(situation: Situation, what: str, table: str, *filters: Any, **more: Any) -> Routed:
    steps = situation.steps
    details: dict[str, Any] = {"limit": MOST_SHOWN, **more}
    steps.read(what, table=table, filters=list(filters), **details)
    return steps.done(what)
