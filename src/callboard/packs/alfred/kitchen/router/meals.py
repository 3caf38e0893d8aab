"""Meals on days: put there or taken away, what they still need, and the tasks they bring."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

from callboard.choreography.turn.domain import Routed, Row
from callboard.packs.alfred.kitchen.profile import meal_tasks
from callboard.packs.alfred.kitchen.router.dates import (
    BARE_WEEKDAY,
    Days,
    find_when,
    read_day,
    read_days,
)
from callboard.packs.alfred.kitchen.router.situation import (
    INTO,
    MOST_ROWS,
    Situation,
    among,
    between,
    same,
)
from callboard.packs.alfred.kitchen.router.words import forms, kinds

_FORMS: Final = forms("meals")
POINTING: Final = _FORMS["pointing"]

_MOST_NEAR: Final = 6


async def route_meals(situation: Situation) -> Routed | None:
    """Route what goes on a day of the plan, or leaves it."""
    put = _FORMS["put"].match(situation.text)
    if put is not None:
        return await _put(situation, put)
    taken = _FORMS["take"].match(situation.text)
    if taken is not None:
        return await _take(situation, taken)
    cleared = _FORMS["clear"].match(situation.text)
    if cleared is not None:
        days = read_days(cleared["when"] or "this week", situation.today)
        if days is None:
            return None
        return _remove(
            situation,
            "Clear the plan",
            between("plan_date", days.dates[0], days.dates[-1]),
        )
    return None


async def find_recipes(situation: Situation, name: str) -> Sequence[Row]:
    """Return the recipes of the user that go by a name: the one called so, else a few near it."""
    plain = name.strip(" \"'“”.").replace("%", "").replace("*", "")
    if not plain or len(plain) > 200:
        return ()
    exact = await situation.rows(table="recipes", filters=[same("name", plain)], limit=2)
    if len(exact) == 1:
        return exact
    part = {"field": "name", "op": "ilike", "value": f"%{plain}%"}
    return await situation.rows(table="recipes", filters=[part], limit=_MOST_NEAR)


async def find_recipe(situation: Situation, name: str) -> Row | None:
    """Return the one recipe of the user that goes by a name, wholly or as part of its own."""
    found = await find_recipes(situation, name)
    return found[0] if len(found) == 1 else None


async def planned_day(situation: Situation, words: str, meal: str | None) -> date | None:
    """Return the day of the plan that is meant: a weekday on which something is planned."""
    day = read_day(words, situation.today)
    if day is None or not BARE_WEEKDAY.fullmatch(words.strip()):
        return day
    later = day + timedelta(days=7)
    for each in (day, later):
        filters = [same("plan_date", each.isoformat())] + (
            [same("meal_type", meal)] if meal else []
        )
        if await situation.rows(table="meal_plans", columns=["id"], filters=filters, limit=1):
            return each
    return day


def plan_recipe(situation: Situation, recipe: Row, day: date, meal: str) -> Routed:
    """Route a recipe onto a day."""
    steps = situation.steps
    told = f"Plan {recipe['name']} for {meal} on {day.isoformat()}"
    record = {"plan_date": day.isoformat(), "meal_type": meal, "recipe_id": recipe["id"],
              "servings": recipe["servings"]}  # fmt: skip
    steps.write(told, op="upsert", table="meal_plans", records=[record])
    return steps.done(told)


async def _put(situation: Situation, found: re.Match[str]) -> Routed | None:
    words = found["day"] or found["day2"] or "today"
    day = read_day(words, situation.today)
    if day is None or INTO.search(found["what"]) or _FORMS["no_dish"].search(found["what"]):
        return None
    meal = kinds("meals")[
        (found["meal"] or found["meal2"] or found["meal3"] or "dinner").casefold()
    ]
    record: dict[str, Any] = {"plan_date": day.isoformat(), "meal_type": meal}
    what = re.sub(r"^(?:the|a|an|my|our|some)\s+", "", found["what"].strip(), flags=re.I)
    assumptions: tuple[str, ...] = ()
    if _FORMS["pointing"].fullmatch(found["what"].strip()):
        if len(situation.asked.referenced) != 1:
            return None
        record["recipe_id"] = situation.asked.referenced[0]
        named = "it"
    else:
        recipe = await find_recipe(situation, re.sub(r"\s+recipe$", "", what, flags=re.I))
        if recipe is not None:
            return plan_recipe(situation, recipe, day, meal)
        named = what
        if re.match(r"^(?:add|put)\b", situation.text, re.I) and not _names_day(found):
            return None
        else:
            record["note"] = what
            assumptions = (f"No recipe is called “{what}”, so it is planned as a note",)
    steps = situation.steps
    told = f"Plan {named} for {meal} on {day.isoformat()}"
    steps.write(told, op="upsert", table="meal_plans", records=[record])
    return steps.done(told, assumptions)


def _names_day(found: re.Match[str]) -> bool:
    return bool(found["day"] or found["day2"])


async def _take(situation: Situation, found: re.Match[str]) -> Routed | None:
    said = found["meal"] or found["meal2"]
    meal = kinds("meals")[said.casefold()] if said else None
    words = found["day"] or found["day2"] or found["bare"] or found["when"]
    day = await planned_day(situation, words, meal)
    days = Days(day, day) if day is not None else read_days(words, situation.today)
    if days is None:
        return None
    filters: list[dict[str, Any]] = [between("plan_date", days.dates[0], days.dates[-1])]
    if meal:
        filters.append(same("meal_type", meal))
    return _remove(situation, "Take it off the plan", *filters)


def _remove(situation: Situation, what: str, *filters: dict[str, Any]) -> Routed:
    return situation.writing(what, op="delete", table="meal_plans", filters=list(filters))


_MOST: Final = 200


async def route_provisions(situation: Situation) -> Routed | None:
    """Route what is to be bought, or only told, for the meals that are planned."""
    bought, asked = _FORMS["buy"].match(situation.text), _FORMS["ask"].match(situation.text)
    if bought is not None:
        return await _needed(situation, bought["when"] or bought["for"], is_bought=True)
    if asked is not None:
        return await _needed(situation, asked["when"], is_bought=False)
    return None


async def _needed(situation: Situation, when: str, *, is_bought: bool) -> Routed:
    days = read_days(when, situation.today)
    planned = _planned(situation, days)
    meals = await situation.rows(
        table="meal_plans", columns=["recipe_id"], filters=planned, limit=_MOST
    )
    recipes = list(dict.fromkeys(str(each["recipe_id"]) for each in meals if each["recipe_id"]))
    if not recipes:
        return Routed(reply="No recipe is planned for then. Say “plan dinners for next week”.")
    steps = situation.steps
    read = [
        steps.read(
            "Read what is planned", 0, table="meal_plans", filters=planned,
            limit=_MOST,
        ),
        steps.read(
            "Read the recipes of the plan", 0, table="recipes",
            filters=[among("id", recipes)], include=["ingredients"], limit=_MOST,
        ),
        steps.read(
            "Read what is in the house", 0, table="inventory_items",
            include=["ingredient"], limit=_MOST,
        ),
        steps.read(
            "Read the shopping list", 0, table="shopping_items",
            filters=[among("status", ["needed", "in_cart"])], limit=_MOST,
        ),
    ]  # fmt: skip
    told = "See what the planned meals still need"
    seen = steps.analyze(told, "shopping", 1, "aggregate_shopping", read)
    if is_bought:
        told = "Add what the planned meals need to the shopping list"
        steps.write(
            told,
            2,
            op="upsert",
            table="shopping_items",
            from_result=f"{seen}.items",
            records=[
                {"name": "$name", "quantity": "$quantity", "unit": "$unit", "source": "meal_plan"}
            ],
        )
    return steps.done(told)


def _planned(situation: Situation, days: Days | None) -> list[dict[str, object]]:
    """Return the meals that are meant: of some days, else all that are still to be cooked."""
    today = situation.today.day.isoformat()
    start = today if days is None else max(today, days.start.isoformat())
    filters: list[dict[str, object]] = [
        {"field": "plan_date", "op": "gte", "value": start},
        {"field": "status", "op": "eq", "value": "planned"},
    ]
    if days is not None:
        filters.append({"field": "plan_date", "op": "lte", "value": days.end.isoformat()})
    return filters


_DAYS_AHEAD: Final = 14
_MOST_TASKS: Final = 100


async def route_preparations(situation: Situation) -> Routed | None:
    """Route a wish for the tasks of what is planned."""
    found = _FORMS["tasks"].match(situation.text)
    if found is None:
        return None
    said = found["meal"] or found["meal2"]
    meal = kinds("meals")[said.casefold()] if said else None
    days = await _days(situation, found["day"] or found["day2"] or found["day3"] or "", meal)
    if days is None:
        return None
    meals = await _meals(situation, days, meal)
    if not meals:
        return Routed(reply="Nothing is planned there that has no tasks yet.")
    profile = await situation.profile()
    recipes = await _recipes(situation, meals)
    records = [task for row in meals for task in _tasks(situation, profile, row, recipes)]
    if len(records) > _MOST_TASKS:
        return Routed(reply=f"That would be {len(records)} tasks. Say for which day you want them.")
    steps = situation.steps
    told = f"Add the tasks of {len(meals)} planned meal{'s' if len(meals) > 1 else ''}"
    steps.write(told, op="create", table="tasks", records=records)
    detail = str(profile.get("task_granularity") or "reminders")
    assumed = (f"Tasks are as your profile says: {detail}",)
    return steps.done(told, assumed)


async def _days(situation: Situation, words: str, meal: str | None) -> Days | None:
    today = situation.today.day
    if not words:
        return Days(today, today + timedelta(days=_DAYS_AHEAD - 1))
    day = await planned_day(situation, words.removesuffix("'s"), meal)
    return Days(day, day) if day is not None else read_days(words, situation.today)


async def _meals(situation: Situation, days: Days, meal: str | None) -> list[Row]:
    """Return what is planned and has no tasks yet."""
    within = between("plan_date", days.dates[0], days.dates[-1])
    filters = [within, same("status", "planned"), *([same("meal_type", meal)] if meal else [])]
    rows = await situation.rows(
        table="meal_plans", filters=filters, order_by=[{"column": "plan_date"}], limit=MOST_ROWS
    )
    ids = [str(row["id"]) for row in rows][:_MOST_TASKS]
    tasks = await situation.rows(
        table="tasks", columns=["meal_plan_id"], filters=[among("meal_plan_id", ids)],
        limit=MOST_ROWS,
    ) if ids else ()  # fmt: skip
    has_tasks = {str(row["meal_plan_id"]) for row in tasks}
    return [row for row in rows if str(row["id"]) in ids and str(row["id"]) not in has_tasks]


async def _recipes(situation: Situation, meals: Sequence[Row]) -> Mapping[str, Row]:
    ids = list(dict.fromkeys(str(row["recipe_id"]) for row in meals if row.get("recipe_id")))
    if not ids:
        return {}
    rows = await situation.rows(
        table="recipes", filters=[among("id", ids)], include=["steps"], limit=MOST_ROWS
    )
    return {str(row["id"]): row for row in rows}


def _tasks(
    situation: Situation, profile: Row, meal: Row, recipes: Mapping[str, Row]
) -> list[dict[str, Any]]:
    recipe: Row = recipes.get(str(meal.get("recipe_id"))) or {}
    name = str(recipe.get("name") or meal.get("note") or meal["meal_type"])
    when = find_when(str(meal["plan_date"]), situation.today)
    known = {"meal_plan_id": meal["id"], "recipe_id": recipe.get("id")}
    if when is not None:
        known["due_at"] = when.at
    written = [str(step["text"]) for step in recipe.get("steps") or ()]
    return [{**task, **known} for task in meal_tasks(profile, name, written)]
