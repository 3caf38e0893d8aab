"""Meals on days: put one there, take one away, clear some days."""

import re
from typing import Any, Final

from callboard.choreography.turn.domain import Routed, Row
from callboard.packs.alfred.kitchen.router.situation import Situation, same
from callboard.packs.alfred.kitchen.router.words.dates import DAY, PERIOD, read_day, read_days
from callboard.packs.alfred.kitchen.router.words.lexicon import any_of, kinds

_MEAL: Final = any_of("meals")
_PUT: Final = re.compile(
    r"^(?:plan|add|put|schedule|have|cook|make)\s+(?P<what>.+?)\s+(?:for|to|on|onto)\s+(?:the"
    r"\s+|my\s+)?"
    rf"(?:(?P<meal>{_MEAL})\s+(?:on\s+|for\s+)?(?P<day>{DAY})|(?P<day2>{DAY})(?:'s)?(?:\s+"
    rf"(?:for\s+)?(?P<meal2>{_MEAL}))?|(?P<meal3>{_MEAL}))$",
    re.I | re.S,
)
_TAKE: Final = re.compile(
    rf"^(?:remove|delete|cancel|clear|skip)\s+(?:the\s+|my\s+)?(?:(?P<meal>{_MEAL})\s+(?:on\s+"
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
_POINTING: Final = re.compile(
    r"(?:that|this|it)(?: one| recipe| dish)?|the (?:first|second|third|last|other)(?: one"
    r"| recipe)?",
    re.I,
)
_NO_DISH: Final = re.compile(
    r"\b(?:dinners|meals|lunches|breakfasts|something|anything|task|reminder)\b", re.I
)


async def route_meals(situation: Situation) -> Routed | None:
    """Route what goes on a day of the plan, or leaves it."""
    put = _PUT.match(situation.text)
    if put is not None:
        return await _put(situation, put)
    taken = _TAKE.match(situation.text)
    if taken is not None:
        return _take(situation, taken)
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


async def find_recipe(situation: Situation, name: str) -> Row | None:
    """Return the one recipe of the user that goes by a name, wholly or as part of its own."""
    plain = name.strip(" \"'“”.").replace("%", "").replace("*", "")
    if not plain or len(plain) > 200:
        return None
    exact = await situation.rows(table="recipes", filters=[same("name", plain)], limit=2)
    if len(exact) == 1:
        return exact[0]
    part = {"field": "name", "op": "ilike", "value": f"%{plain}%"}
    near = await situation.rows(table="recipes", filters=[part], limit=2)
    return near[0] if len(near) == 1 else None


async def _put(situation: Situation, found: re.Match[str]) -> Routed | None:
    words = found["day"] or found["day2"] or "today"
    day = read_day(words, situation.today)
    if day is None or _NO_DISH.search(found["what"]):
        return None
    meal = kinds("meals")[
        (found["meal"] or found["meal2"] or found["meal3"] or "dinner").casefold()
    ]
    record: dict[str, Any] = {"plan_date": day.isoformat(), "meal_type": meal}
    what = re.sub(r"^(?:the|a|an|my|our|some)\s+", "", found["what"].strip(), flags=re.I)
    assumptions: tuple[str, ...] = ()
    if _POINTING.fullmatch(found["what"].strip()):
        if len(situation.asked.referenced) != 1:
            return None
        record["recipe_id"] = situation.asked.referenced[0]
        named = "it"
    else:
        recipe = await find_recipe(situation, re.sub(r"\s+recipe$", "", what, flags=re.I))
        named = str(recipe["name"]) if recipe else what
        if recipe is not None:
            record |= {"recipe_id": recipe["id"], "servings": recipe["servings"]}
        elif re.match(r"^(?:add|put)\b", situation.text, re.I) and not _names_day(found):
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


def _take(situation: Situation, found: re.Match[str]) -> Routed | None:
    days = read_days(found["day"] or found["day2"] or found["when"], situation.today)
    if days is None:
        return None
    filters: list[dict[str, Any]] = [
        {"field": "plan_date", "op": "between", "value": [days.dates[0], days.dates[-1]]}
    ]
    meal = found["meal"] or found["meal2"]
    if meal:
        filters.append(same("meal_type", kinds("meals")[meal.casefold()]))
    return _remove(situation, "Take it off the plan", *filters)


def _remove(situation: Situation, what: str, *filters: dict[str, Any]) -> Routed:
    steps = situation.steps
    steps.write(what, "meal_plans", op="delete", table="meal_plans", filters=list(filters))
    return Routed(steps=tuple(steps.made), goal=what)
