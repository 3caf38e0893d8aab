"""Preparations: the tasks of planned meals, in as much detail as their cook likes."""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from callboard.choreography.turn.domain import Routed, Row
from callboard.packs.alfred.kitchen.profile.effects import meal_tasks
from callboard.packs.alfred.kitchen.router.meals import planned_day
from callboard.packs.alfred.kitchen.router.reads import MOST_ROWS
from callboard.packs.alfred.kitchen.router.situation import Situation, among, same
from callboard.packs.alfred.kitchen.router.words.dates import (
    DAY,
    PERIOD,
    Days,
    find_when,
    read_days,
)
from callboard.packs.alfred.kitchen.router.words.lexicon import any_of, kinds

_MEAL: Final = any_of("meals")
_DAYS_AHEAD: Final = 14
_MOST_TASKS: Final = 100
_TASKS: Final = re.compile(
    r"^(?:(?:add|make|create|set|set up|write|give)(?:\s+(?:me|us))?\s+(?:the\s+|some\s+|my\s+)?"
    r"(?:(?:prep|preparation|cooking|kitchen)\s+)?(?:tasks|to-?dos|to-?do list|reminders)\s+"
    r"(?:for|from|of|about)|remind me (?:of|about))\s+(?:the\s+|my\s+|our\s+)?"
    rf"(?:(?P<meal>{_MEAL})\s+(?:on\s+|for\s+)?(?P<day>{DAY})"
    rf"|(?P<day2>{DAY}|{PERIOD})(?:'s)?(?:\s+(?:(?P<meal2>{_MEAL})|meals|plan|menu|food))?"
    r"|(?:meal plan|plan|menu|planned meals|meals)"
    rf"(?:\s+(?:for|of|on)\s+(?P<day3>{DAY}|{PERIOD}))?)$",
    re.I,
)


async def route_preparations(situation: Situation) -> Routed | None:
    """Route a wish for the tasks of what is planned."""
    found = _TASKS.match(situation.text)
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
    profile = next(iter(await situation.rows(table="user_profile", limit=1)), dict[str, Any]())
    recipes = await _recipes(situation, meals)
    records = [task for row in meals for task in _tasks(situation, profile, row, recipes)]
    if len(records) > _MOST_TASKS:
        return Routed(reply=f"That would be {len(records)} tasks. Say for which day you want them.")
    steps = situation.steps
    told = f"Add the tasks of {len(meals)} planned meal{'s' if len(meals) > 1 else ''}"
    steps.write(told, "tasks", op="create", table="tasks", records=records)
    detail = str(profile.get("task_granularity") or "reminders")
    assumed = (f"Tasks are as your profile says: {detail}",)
    return Routed(steps=tuple(steps.made), goal=told, assumptions=assumed)


async def _days(situation: Situation, words: str, meal: str | None) -> Days | None:
    today = situation.today.day
    if not words:
        return Days(today, today + timedelta(days=_DAYS_AHEAD - 1))
    day = await planned_day(situation, words.removesuffix("'s"), meal)
    return Days(day, day) if day is not None else read_days(words, situation.today)


async def _meals(situation: Situation, days: Days, meal: str | None) -> list[Row]:
    """Return what is planned and has no tasks yet."""
    between = {"field": "plan_date", "op": "between", "value": [days.dates[0], days.dates[-1]]}
    filters = [between, same("status", "planned"), *([same("meal_type", meal)] if meal else [])]
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
