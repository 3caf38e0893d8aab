"""Provisions: what the planned meals still need goes on the shopping list."""

import re
from typing import Final

from callboard.choreography.turn.domain import Routed
from callboard.packs.alfred.kitchen.router.situation import Situation, among
from callboard.packs.alfred.kitchen.router.words.dates import PERIOD, Days, read_days

_MOST: Final = 200
_PLAN: Final = rf"(?:(?:my|the|our|that) (?:meal |dinner |week(?:ly)? )?(?:plan|menu)|it|{PERIOD})"
_LIST: Final = (
    r"(?:\s+(?:to|on|onto)\s+(?:(?:my|the|our)\s+)?(?:shopping|grocer(?:y|ies))(?: list)?)"
)
_BUY: Final = re.compile(
    r"^(?:add|put|get)\s+(?:everything|all|what(?:ever)?(?:'s| is| i'm| we're)?)?\s*"
    r"(?:missing|(?:(?:i|we)(?:'ll)? (?:still )?(?:need|don't have)|(?:is|'s) needed))?"
    rf"(?:\s+(?:ingredients|items|things))?\s+for\s+(?P<when>{_PLAN}){_LIST}$"
    r"|^(?:shop|buy|make (?:a|the|my) shopping list)\s+(?:everything |all )?"
    rf"for\s+(?P<for>{_PLAN})$",
    re.I | re.S,
)
_ASK: Final = re.compile(
    r"^what (?:do (?:i|we) (?:still )?(?:need(?: to (?:buy|get))?|have to (?:buy|get))|is missing"
    rf"|should (?:i|we) buy)\s+for\s+(?P<when>{_PLAN})$",
    re.I,
)


async def route_provisions(situation: Situation) -> Routed | None:
    """Route what is to be bought, or only told, for the meals that are planned."""
    bought, asked = _BUY.match(situation.text), _ASK.match(situation.text)
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
            "Read what is planned", "meal_plans", 0, table="meal_plans", filters=planned,
            limit=_MOST,
        ),
        steps.read(
            "Read the recipes of the plan", "recipes", 0, table="recipes",
            filters=[among("id", recipes)], include=["ingredients"], limit=_MOST,
        ),
        steps.read(
            "Read what is in the house", "inventory", 0, table="inventory_items",
            include=["ingredient"], limit=_MOST,
        ),
        steps.read(
            "Read the shopping list", "shopping", 0, table="shopping_items",
            filters=[among("status", ["needed", "in_cart"])], limit=_MOST,
        ),
    ]  # fmt: skip
    told = "See what the planned meals still need"
    seen = steps.analyze(told, "shopping", 1, "aggregate_shopping", read)
    if is_bought:
        told = "Add what the planned meals need to the shopping list"
        steps.write(
            told,
            "shopping",
            2,
            op="upsert",
            table="shopping_items",
            from_result=f"{seen}.items",
            records=[
                {"name": "$name", "quantity": "$quantity", "unit": "$unit", "source": "meal_plan"}
            ],
        )
    return Routed(steps=tuple(steps.made), goal=told)


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
