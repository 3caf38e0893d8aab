"""Meals on days: put one there, take one away, clear some days."""

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, Final

from callboard.choreography.turn.domain import Routed, Row
from callboard.packs.alfred.kitchen.router.situation import Situation, same
from callboard.packs.alfred.kitchen.router.words.dates import (
    BARE_WEEKDAY,
    DAY,
    PERIOD,
    Days,
    read_day,
    read_days,
)
from callboard.packs.alfred.kitchen.router.words.lexicon import any_of, kinds
from callboard.packs.alfred.kitchen.router.words.targets import INTO

_MOST_NEAR: Final = 6
_MEAL: Final = any_of("meals")
_PUT: Final = re.compile(
    r"^(?:plan|add|put|schedule|have|cook|make)\s+(?P<what>.+?)\s+(?:for|to|on|onto)\s+(?:the"
    r"\s+|my\s+)?"
    rf"(?:(?P<meal>{_MEAL})\s+(?:on\s+|for\s+)?(?P<day>{DAY})|(?P<day2>{DAY})(?:'s)?(?:\s+"
    rf"(?:for\s+)?(?P<meal2>{_MEAL}))?|(?P<meal3>{_MEAL}))$",
    re.I | re.S,
)
_TAKE: Final = re.compile(
    rf"^(?:skip|clear|cancel)\s+(?P<bare>{DAY})$"
    rf"|^(?:remove|delete|cancel|clear|skip)\s+(?:the\s+|my\s+)?(?:(?P<meal>{_MEAL})\s+(?:on\s+"
    rf"|for\s+)?(?P<day>{DAY})"
    rf"|(?P<day2>{DAY})(?:'s)?\s+(?P<meal2>{_MEAL})|(?:what'?s planned|the plan|plan|meals?)\s+"
    rf"(?:for|on)\s+(?P<when>{DAY}|{PERIOD}))$",
    re.I,
)
_CLEAR: Final = re.compile(
    r"^(?:clear|empty|delete|remove)\s+(?:(?:my|the|our)\s+)?(?:whole\s+)?(?:meal\s+)?(?:plan"
    rf"|menu)(?:\s+(?:for|of)\s+(?P<when>{DAY}|{PERIOD}))?$",
    re.I,
)
POINTING: Final = re.compile(
    r"(?:that|this|it)(?: one| recipe| dish)?|the (?:first|second|third|last|other)(?: one"
    r"| recipe)?",
    re.I,
)
_NO_DISH: Final = re.compile(
    r"\b(?:dinners|meals|lunches|breakfasts|something|anything|task|reminder)\b"
    rf"|^(?:(?:a|the|my|our|some)\s+)?(?:{_MEAL}|meal|menu|food|week)$",
    re.I,
)


async def route_meals(situation: Situation) -> Routed | None:
    """Route what goes on a day of the plan, or leaves it."""
    put = _PUT.match(situation.text)
    if put is not None:
        return await _put(situation, put)
    taken = _TAKE.match(situation.text)
    if taken is not None:
        return await _take(situation, taken)
    cleared = _CLEAR.match(situation.text)
    if cleared is not None:
        days = read_days(cleared["when"] or "this week", situation.today)
        if days is None:
            return None
        return _remove(
            situation,
            "Clear the plan",
            {"field": "plan_date", "op": "between", "value": [days.dates[0], days.dates[-1]]},
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
    steps.write(told, "meal_plans", op="upsert", table="meal_plans", records=[record])
    return Routed(steps=tuple(steps.made), goal=told)


async def _put(situation: Situation, found: re.Match[str]) -> Routed | None:
    words = found["day"] or found["day2"] or "today"
    day = read_day(words, situation.today)
    if day is None or INTO.search(found["what"]) or _NO_DISH.search(found["what"]):
        return None
    meal = kinds("meals")[
        (found["meal"] or found["meal2"] or found["meal3"] or "dinner").casefold()
    ]
    record: dict[str, Any] = {"plan_date": day.isoformat(), "meal_type": meal}
    what = re.sub(r"^(?:the|a|an|my|our|some)\s+", "", found["what"].strip(), flags=re.I)
    assumptions: tuple[str, ...] = ()
    if POINTING.fullmatch(found["what"].strip()):
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
    steps.write(told, "meal_plans", op="upsert", table="meal_plans", records=[record])
    return Routed(steps=tuple(steps.made), goal=told, assumptions=assumptions)


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
    filters: list[dict[str, Any]] = [
        {"field": "plan_date", "op": "between", "value": [days.dates[0], days.dates[-1]]}
    ]
    if meal:
        filters.append(same("meal_type", meal))
    return _remove(situation, "Take it off the plan", *filters)


def _remove(situation: Situation, what: str, *filters: dict[str, Any]) -> Routed:
    steps = situation.steps
    steps.write(what, "meal_plans", op="delete", table="meal_plans", filters=list(filters))
    return Routed(steps=tuple(steps.made), goal=what)
