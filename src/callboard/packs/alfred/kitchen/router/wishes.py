"""Wishes: what could be cooked, something new, a planned week, what a recipe still needs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from callboard.choreography.turn.domain import Routed, Row
from callboard.packs.alfred.kitchen.profile.effects import planning_range
from callboard.packs.alfred.kitchen.router.meals import find_recipe
from callboard.packs.alfred.kitchen.router.situation import (
    Likely,
    Situation,
    Steps,
    among,
    same,
)
from callboard.packs.alfred.kitchen.router.strategies import at_most_minutes, recipe_filters
from callboard.packs.alfred.kitchen.router.words.dates import DAY, PERIOD, Days, read_days
from callboard.packs.alfred.kitchen.router.words.items import read_items
from callboard.packs.alfred.kitchen.router.words.lexicon import any_of, kinds, numbers
from callboard.packs.alfred.kitchen.safety.conflicts import Clash, find_clash

MOST_RECIPES: Final = 200
_FREQUENCIES: Final = {"daily": "every day", "weekends_only": "on weekends"}
_CAN_MAKE: Final = re.compile(
    r"^what (?:can|could|should|shall) (?:i|we) (?:make|cook|eat|have)(?: (?:for \w+|tonight"
    r"|today|now|from|with|using|out of))*(?P<from>.*)$"
    r"|^(?P<verb>suggest|recommend|give me|show me)(?: me| us)? (?:a |an |some |any )?"
    r"(?P<kind>(?:[\w-]+ ){0,3}?)(?:recipes?|dish(?:es)?|meals?|dinner|lunch|ideas?"
    r"|something(?: to (?:cook|eat|make))?)"
    r"(?: (?:for \w+|tonight|today|from|with|using))*(?P<from2>.*)$"
    r"|^(?:any |some )?(?:dinner |meal |lunch |recipe )?ideas(?: for \w+)?$",
    re.I,
)
_PLAIN_KIND: Final = re.compile(r"(?:(?:new|good|nice|quick|easy) )*", re.I)
_IN_MINUTES: Final = re.compile(
    r"\s+(?:in|under|in under|in less than|within)\s+(?P<minutes>\d{1,3})\s*min(?:ute)?s?"
    r"(?: or less)?\b",
    re.I,
)
_OWN_STOCK: Final = re.compile(
    r"^(?:what(?:'s| is)?(?: (?:i|we))?(?: already)?(?: (?:have|have got|got|is))?|what"
    r"(?:ever)? (?:i|we) have|my |the |our |stuff|things|in|at|home|fridge|pantry|stock|kitchen"
    r"|inventory|right now|now|\s|,)*$",
    re.I,
)
_MAKE_ME: Final = re.compile(
    r"^(?:make|create|generate|invent|write|come up with|design|give|draft)(?: me| us)? (?:a "
    r"|an |some )?(?:new )?(?P<wish>.+?)(?: recipe)?(?: for (?P<people>\w+)(?: people"
    r"| persons)?)?$",
    re.I | re.S,
)
_PLAN: Final = re.compile(
    r"^(?:plan|make|create|generate|propose|draft)(?: me| us)?(?: an?)? (?:(?P<count>\w+) )?"
    r"(?:my |our |the |some )?(?:(?:whole|entire|next) )*"
    rf"(?P<what>{any_of('meals')}|meals?|menu|meal plan|week|month|plan|food)(?: plan)?"
    r"(?P<rest>\b.*)$",
    re.I | re.S,
)
_COUNT: Final = re.compile(
    r"\b(?:make it|only|just|with)?\s*(?P<count>\d{1,2}|one|two|three|four|five|six|seven)\s+"
    r"(?:dinners?|meals?|lunch(?:es)?|breakfasts?|days?|recipes?|times?)\b|\bmake it (?P<just>"
    r"\d{1,2}|one|two|three|four|five|six|seven)\b",
    re.I,
)
_MISSING: Final = re.compile(
    r"^(?:(?P<save>save|keep)\s+(?:that|it|this)(?:\s+recipe)?\s*(?:,|and|then|and then)*\s+)?"
    r"(?:add|put)\s+(?:what(?:'s| is| i'm| we're)?|the|all|any)?\s*(?:missing|(?:i|we) "
    r"(?:don't have|need))(?:\s+(?:ingredients|items|things))?"
    r"(?:\s+for (?P<recipe>.+?))?(?:\s+(?:to|on|onto)\s+(?:my|the|our)?\s*(?:shopping|grocery"
    r"|groceries)?\s*(?:list)?)?$",
    re.I | re.S,
)


async def route_wishes(situation: Situation) -> Routed | None:
    """Route what needs more than one look: matching, inventing, planning."""
    for route in (_missing, _planned, _can_make, _made_up):
        routed = await route(situation)
        if routed is not None:
            return routed
    return None


async def _can_make(situation: Situation) -> Routed | None:
    minutes = _IN_MINUTES.search(situation.text)
    found = _CAN_MAKE.match(_IN_MINUTES.sub("", situation.text))
    described = None if found is None else _described(found)
    if found is None or described is None:
        return None
    if minutes is not None:
        described.append(at_most_minutes(int(minutes["minutes"])))
    source = (found["from"] or found["from2"] or "").strip(" ,?")
    wanted: list[str] = []
    if source and not _OWN_STOCK.match(source):
        wanted = [item.name for item in read_items(re.sub(r"^(?:with|using|from)\s+", "", source))]
        if not wanted:
            return None
    steps = situation.steps
    filters = described + [
        {"field": "ingredients.name", "op": "ilike", "value": f"%{each.strip('%* ')}%"}
        for each in wanted[:3]
    ]
    likely = None if filters else await situation.likely()
    read = [_recipes(steps, 0, filters, likely), _stock(steps, 0, likely), _profile(steps, 0)]
    told = "See what can be made with what is there"
    steps.analyze(
        told, "recipes", 1, "match_recipes", read, constraints=list(situation.asked.constraints)
    )
    return Routed(steps=tuple(steps.made), goal=told)


def _described(found: re.Match[str]) -> list[dict[str, Any]] | None:
    """Return what the words before "dinner" ask for, or None if they say nothing here."""
    kind = found["kind"] or ""
    if str(found["verb"] or "").casefold() in ("give me", "show me"):
        # Whoever wants a certain dish shown or given asks for something else.
        return [] if _PLAIN_KIND.fullmatch(kind) else None
    return recipe_filters(kind, "")


async def _made_up(situation: Situation) -> Routed | None:
    found = _MAKE_ME.match(situation.text)
    if found is None or re.match(r"^(?:it|that|this)\b", found["wish"], re.I):
        return None
    known = await situation.rows(table="user_profile", limit=1)
    clash = find_clash(found["wish"], known[0] if known else None)
    if clash is not None and _must_ask(situation, clash):
        return Routed(question=clash.question)
    steps = situation.steps
    read = [_stock(steps, 0), _profile(steps, 0)]
    details: dict[str, Any] = {"wish": found["wish"].strip()[:200]}
    people = _number(found["people"] or "")
    if people:
        details["servings"] = people
    told = f"Make up {found['wish'].strip()[:80]}"
    steps.generate(told, "recipes", 1, "recipe", read, **details)
    limit = "" if clash is None else clash.limit.replace("_", " ")
    assumptions = (f"Kept to {limit}: left out {clash.food}",) if clash is not None else ()
    return Routed(steps=tuple(steps.made), goal=told, assumptions=assumptions)


def _must_ask(situation: Situation, clash: Clash) -> bool:
    """Say whether a wish is asked about: it contradicts itself, and nobody has said what counts.

    What the profile forbids is simply left out.
    """
    is_answered = situation.text.endswith(")")
    may_ask = situation.asked.mode not in ("quick", "cook")
    return may_ask and not is_answered and not clash.is_from_profile


async def _planned(situation: Situation) -> Routed | None:
    found = _PLAN.match(situation.text)
    if found is None or not re.match(r"^(?:plan\b|.*\b(?:plan|menu)\b)", situation.text, re.I):
        return None
    rest = f"{found['what']} {found['rest']}"
    named = re.search(rf"\b(?:{PERIOD}|{DAY})", situation.text, re.I)
    rows = await situation.rows(table="user_profile", limit=1)
    profile: Row = rows[0] if rows else dict[str, Any]()
    count = _count(situation.text) or _number(found["count"] or "")
    days = read_days(named[0], situation.today) if named else None
    days = days or _usual_days(situation, found["what"], profile)
    assumptions = [] if named else [f"Planned for {days.dates[0]} to {days.dates[-1]}"]
    if count is None:
        words = _FREQUENCIES.get(str(profile.get("cooking_frequency")), "three times a week")
        assumptions.append(f"As many days as your profile says: {words}")
    likely = await situation.likely()
    wanted = _Wanted(days, _meals(rest), count, likely)
    return _plan_steps(situation, wanted, tuple(assumptions))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A plan that is wanted."""

    days: Days
    meals: tuple[str, ...]
    count: float | None
    likely: Likely | None


def _plan_steps(situation: Situation, wanted: _Wanted, assumptions: tuple[str, ...]) -> Routed:
    days, meals, count, likely = wanted.days, wanted.meals, wanted.count, wanted.likely
    steps = situation.steps
    occupied = {
        "table": "meal_plans",
        "filters": [
            {"field": "plan_date", "op": "between", "value": [days.dates[0], days.dates[-1]]}
        ],
        "limit": MOST_RECIPES,
    }
    read = [
        _recipes(steps, 0, [], likely),
        _stock(steps, 0, likely),
        _profile(steps, 0),
        steps.read("Read what is planned already", "meal_plans", 0, **occupied),
    ]
    named = " and ".join(f"{meal}s" for meal in meals)
    told = f"Plan {named} from {days.dates[0]} to {days.dates[-1]}"
    arguments: dict[str, Any] = {
        "start": days.dates[0],
        "end": days.dates[-1],
        "meals": list(meals),
    }
    if count is not None:
        arguments["count"] = int(count)
    draft = steps.generate(told, "meal_plans", 1, "meal_plan", read, **arguments)
    if situation.asked.mode in ("plan", "create"):
        bought = [*read[:2], draft]
        steps.analyze("See what is missing for it", "shopping", 2, "aggregate_shopping", bought)
        steps.write(
            "Save the plan", "meal_plans", 3, op="upsert", table="meal_plans", from_content=draft
        )
    return Routed(steps=tuple(steps.made), goal=told, assumptions=assumptions)


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
    read = [
        steps.read(
            "Read the recipe", "recipes", group, table="recipes", filters=[wanted],
            include=["ingredients"],
        ),
        _stock(steps, group),
    ]  # fmt: skip
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


def _recipes(
    steps: Steps, group: int, filters: Sequence[dict[str, Any]], likely: Likely | None = None
) -> str:
    chosen = [*filters] if likely is None else [*filters, among("id", likely.recipe_ids)]
    return steps.read(
        "Read the recipes", "recipes", group, table="recipes", filters=chosen,
        include=["ingredients", "tags"], limit=MOST_RECIPES,
    )  # fmt: skip


def _stock(steps: Steps, group: int, likely: Likely | None = None) -> str:
    filters = [] if likely is None else [among("ingredient_id", likely.ingredient_ids)]
    return steps.read(
        "Read what is in the house", "inventory", group, table="inventory_items", filters=filters,
        include=["ingredient"], limit=MOST_RECIPES,
    )  # fmt: skip


def _profile(steps: Steps, group: int) -> str:
    return steps.read("Read the preferences", "preferences", group, table="user_profile")


def _usual_days(situation: Situation, what: str, profile: Row) -> Days:
    """Return the days that are meant when none is named."""
    today = situation.today.day
    if what.casefold() == "month":
        return Days(today, today + timedelta(days=29))
    return Days(*planning_range(profile, today))


def _meals(text: str) -> tuple[str, ...]:
    found = [kinds("meals")[w] for w in re.findall(r"\w+", text.casefold()) if w in kinds("meals")]
    return tuple(dict.fromkeys(found)) or ("dinner",)


def _count(text: str) -> float | None:
    found = None
    for each in _COUNT.finditer(text):
        found = each
    return None if found is None else _number(found["count"] or found["just"])


def _number(text: str) -> float | None:
    if text.isdigit():
        return float(text) or None
    return None if text.casefold() in ("a", "an") else numbers().get(text.casefold())
