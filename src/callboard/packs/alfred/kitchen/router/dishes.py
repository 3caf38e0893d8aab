"""One dish: what it needs, what of that is missing, and how much of it for more or fewer people."""

import re
from typing import Any, Final

from callboard.choreography.turn.domain import Routed
from callboard.packs.alfred.kitchen.router.meals import POINTING, find_recipe
from callboard.packs.alfred.kitchen.router.reads import read_recipe, read_stock
from callboard.packs.alfred.kitchen.router.situation import Situation, Steps, same
from callboard.packs.alfred.kitchen.router.words.lexicon import read_count

_MISSING: Final = re.compile(
    r"^(?:(?P<save>save|keep)\s+(?:that|it|this)(?:\s+recipe)?\s*(?:,|and|then|and then)*\s+)?"
    r"(?:add|put)\s+(?:what(?:'s| is| i'm| we're)?|the|all|any)?\s*(?:missing|(?:i|we) "
    r"(?:don't have|need))(?:\s+(?:ingredients|items|things))?"
    r"(?:\s+for (?P<recipe>.+?))?(?:\s+(?:to|on|onto)\s+(?:my|the|our)?\s*(?:shopping|grocery"
    r"|groceries)?\s*(?:list)?)?$",
    re.I | re.S,
)
_NEEDED: Final = re.compile(
    r"^(?:what (?:do (?:i|we) (?:still )?(?:need(?: to (?:buy|get))?|have to (?:buy|get))"
    r"|am i missing|are we missing|else do (?:i|we) need)"
    r"|what(?:'s| is) missing|do (?:i|we) have (?:everything|all|enough|what (?:i|we) need)"
    r"(?: (?:i|we) need)?)\s+(?:for|to (?:make|cook|bake))\s+(?P<recipe>.+)$",
    re.I | re.S,
)
_SCALED: Final = re.compile(
    r"^(?:scale|resize|adjust|recalculate|show(?: me)?|make|cook)\s+(?:the |my |our )?"
    r"(?P<recipe>.+?)"
    r"(?:\s+recipe)?\s+(?:to|for|up to|down to|scaled to|scaled for)\s+(?P<count>\w+)"
    r"(?:\s+(?:people|persons|servings|portions|of us))?$"
    r"|^(?P<times>double|halve|triple)\s+(?:the |my |our )?(?P<recipe2>.+?)(?:\s+recipe)?$",
    re.I | re.S,
)
_TIMES: Final = {"double": 2.0, "halve": 0.5, "triple": 3.0}


async def route_dishes(situation: Situation) -> Routed | None:
    """Route what is asked about one recipe that is there, or drafted."""
    for route in (_missing, _needed, _scaled):
        routed = await route(situation)
        if routed is not None:
            return routed
    return None


async def _needed(situation: Situation) -> Routed | None:
    """Tell what a recipe needs and the house lacks; nothing is put on the list."""
    found = _NEEDED.match(situation.text)
    recipe = None if found is None else await find_recipe(situation, found["recipe"])
    if recipe is None:
        return None
    steps = situation.steps
    read = [read_recipe(steps, 0, same("id", recipe["id"])), read_stock(steps, 0)]
    told = f"See what is missing for {recipe['name']}"
    steps.analyze(told, "recipes", 1, "missing_ingredients", read)
    return Routed(steps=tuple(steps.made), goal=told)


async def _scaled(situation: Situation) -> Routed | None:
    """Show a recipe for another number of people; the recipe itself stays as it is."""
    found = _SCALED.match(situation.text)
    if found is None:
        return None
    name = found["recipe"] or found["recipe2"]
    if POINTING.fullmatch(name):
        if len(situation.asked.referenced) != 1:
            return None
        filters = [same("id", situation.asked.referenced[0])]
        rows = await situation.rows(table="recipes", filters=filters, limit=1)
        recipe = rows[0] if rows else None
    else:
        recipe = await find_recipe(situation, name)
    if recipe is None:
        return None
    times = (
        _TIMES[found["times"].casefold()] * float(recipe["servings"]) if found["times"] else None
    )
    servings = times or read_count(found["count"] or "")
    if servings is None:
        return None
    steps = situation.steps
    read = read_recipe(steps, 0, same("id", recipe["id"]))
    told = f"{recipe['name']} for {servings:g}"
    steps.analyze(told, "recipes", 1, "scale_recipe", [read], servings=servings)
    return Routed(steps=tuple(steps.made), goal=told)


async def _missing(situation: Situation) -> Routed | None:
    """What a recipe needs and the house lacks goes on the list."""
    found = _MISSING.match(situation.text)
    if found is None:
        return None
    steps = situation.steps
    group = 0
    if found["save"]:
        drafts = [each for each in situation.asked.referenced if each.startswith("temp_")]
        if len(drafts) != 1:
            return None
        saved = steps.write(
            "Save the recipe", "recipes", op="create", table="recipes", from_content=drafts[0]
        )
        # The symbol is the id of the row that the step before has made.
        wanted = same("id", f"{saved}.id")
        group = 1
    elif found["recipe"]:
        recipe = await find_recipe(situation, found["recipe"])
        if recipe is None:
            return None
        wanted = same("id", recipe["id"])
    elif len(situation.asked.referenced) == 1:
        wanted = same("id", situation.asked.referenced[0])
    else:
        return None
    return _missing_steps(steps, wanted, group)


def _missing_steps(steps: Steps, wanted: dict[str, Any], group: int) -> Routed:
    read = [read_recipe(steps, group, wanted), read_stock(steps, group)]
    seen = steps.analyze("See what is missing", "recipes", group + 1, "missing_ingredients", read)
    steps.write(
        "Add what is missing to the shopping list",
        "shopping",
        group + 2,
        op="upsert",
        table="shopping_items",
        from_result=f"{seen}.missing",
        records=[{"name": "$name", "quantity": "$to_buy", "unit": "$unit", "source": "recipe"}],
    )
    told = "Add what is missing to the shopping list"
    goal = f"Save the recipe; {told[0].lower()}{told[1:]}" if group else told
    return Routed(steps=tuple(steps.made), goal=goal)
