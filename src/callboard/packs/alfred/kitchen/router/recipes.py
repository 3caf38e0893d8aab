"""Recipes: which are wanted, what one needs and how much of it, what could be cooked, new ones."""

import re
from typing import Any, Final

from callboard.choreography.turn.domain import Routed
from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.food.foods import food_facts
from callboard.packs.alfred.kitchen.food.wishes import WishClash, find_clash
from callboard.packs.alfred.kitchen.profile import keeps_links
from callboard.packs.alfred.kitchen.router.cooking import route_scaled
from callboard.packs.alfred.kitchen.router.meals import find_recipe
from callboard.packs.alfred.kitchen.router.situation import (
    Situation,
    Steps,
    read_profile,
    read_recipe,
    read_recipes,
    read_stock,
    same,
)
from callboard.packs.alfred.kitchen.router.words import forms, keyed, read_count, read_items

_FORMS: Final = forms("recipes")

QUICK_MINUTES: Final = 30
_QUICK: Final = frozenset({"quick", "fast", "speedy", "weeknight", "easy"})
_FILLER: Final = frozenset(
    {"", "my", "the", "our", "all", "some", "any", "saved", "own", "me", "and", "archived",
     "deleted", "a", "an", "other", "new", "old", "good", "nice", "great", "whole", "entire",
     "next", "out", "few"}
)  # fmt: skip


def recipe_filters(before: str, after: str) -> list[dict[str, Any]] | None:
    """Return what the words around "recipes" ask for, or None if a word says nothing here."""
    filters = _words(before)
    tail = after.strip()
    if filters is None:
        return None
    minutes = _FORMS["minutes"].search(tail)
    if minutes is not None:
        filters.append(at_most_minutes(int(minutes[1])))
        tail = tail.replace(minutes[0], " ").strip()
    for pattern, make in ((_FORMS["without"], _holds_none), (_FORMS["with"], _holds)):
        found = pattern.search(tail)
        if found is None:
            continue
        items = read_items(found["what"])
        if not items:
            return None
        filters += [make(item.name) for item in items]
        tail = tail.replace(found[0], " ").strip()
    is_read = re.fullmatch(r"(?:from|for|that|in|,|\s)*", tail) is not None
    return filters if is_read else None


def split_diets(text: str) -> tuple[list[str], str]:
    """Return the diets a text names, and the rest of its words."""
    diets: list[str] = []
    rest: list[str] = []
    for word in re.split(r"[\s,]+", text.strip()):
        diet = keyed("diets").get(name_key(word)) if word else None
        (rest if diet is None else diets).append(diet or word)
    return diets, " ".join(rest)


def at_most_minutes(minutes: int) -> dict[str, Any]:
    """Return the condition that a recipe takes no longer; an untimed one is not known to."""
    return {"field": "total_minutes", "op": "lte", "value": minutes}


def has_tag(tag: str) -> dict[str, Any]:
    """Return the condition that a recipe has a tag."""
    return {"field": "tags", "op": "cs", "value": [tag]}


def _words(text: str) -> list[dict[str, Any]] | None:
    filters: list[dict[str, Any]] = []
    left = [word for word in re.split(r"[\s,]+", text.casefold()) if word not in _FILLER]
    for word in left:
        made = _word(word)
        if made is None:
            return None
        filters.append(made)
    return filters


def _word(word: str) -> dict[str, Any] | None:
    key = name_key(word)
    if word in _QUICK:
        return at_most_minutes(QUICK_MINUTES)
    if key in keyed("cuisines"):
        return {"field": "cuisine", "op": "ilike", "value": keyed("cuisines")[key]}
    if key in keyed("diets"):
        diet = keyed("diets")[key]
        # What is vegan is vegetarian, too.
        is_wider = diet == "vegetarian"
        return {"or": [has_tag(diet), has_tag("vegan")]} if is_wider else has_tag(diet)
    if key in keyed("courses"):
        course = keyed("courses")[key]
        return {"or": [{"field": "course", "op": "ilike", "value": course}, has_tag(course)]}
    from callboard.packs.alfred.kitchen.food.foods import food_facts

    return _holds(word) if food_facts(word).is_food else None


def _holds(name: str) -> dict[str, Any]:
    wanted = name_key(name).replace("%", "").replace("*", "")
    return {"field": "ingredients.name", "op": "ilike", "value": f"%{wanted}%"}


def _holds_none(name: str) -> dict[str, Any]:
    return {"not": _holds(name)}


async def route_dishes(situation: Situation) -> Routed | None:
    """Route what is asked about one recipe that is there, or drafted."""
    for route in (_missing, _needed, route_scaled):
        routed = await route(situation)
        if routed is not None:
            return routed
    return None


async def _needed(situation: Situation) -> Routed | None:
    """Tell what a recipe needs and the house lacks; nothing is put on the list."""
    found = _FORMS["needed"].match(situation.text)
    recipe = None if found is None else await find_recipe(situation, found["recipe"])
    if recipe is None:
        return None
    steps = situation.steps
    read = [read_recipe(steps, 0, same("id", recipe["id"])), read_stock(steps, 0)]
    told = f"See what is missing for {recipe['name']}"
    steps.analyze(told, "recipes", 1, "missing_ingredients", read)
    return steps.done(told)


async def _missing(situation: Situation) -> Routed | None:
    """What a recipe needs and the house lacks goes on the list."""
    found = _FORMS["missing"].match(situation.text)
    if found is None:
        return None
    steps = situation.steps
    group = 0
    if found["save"]:
        drafts = [each for each in situation.asked.referenced if each.startswith("temp_")]
        if len(drafts) != 1:
            return None
        saved = steps.write("Save the recipe", op="create", table="recipes", from_content=drafts[0])
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
        group + 2,
        op="upsert",
        table="shopping_items",
        from_result=f"{seen}.missing",
        records=[{"name": "$name", "quantity": "$to_buy", "unit": "$unit", "source": "recipe"}],
    )
    told = "Add what is missing to the shopping list"
    goal = f"Save the recipe; {told[0].lower()}{told[1:]}" if group else told
    return steps.done(goal)


async def route_wishes(situation: Situation) -> Routed | None:
    """Route what needs more than one look: matching, inventing."""
    for route in (_can_make, _made_up):
        routed = await route(situation)
        if routed is not None:
            return routed
    return None


async def _can_make(situation: Situation) -> Routed | None:
    minutes = _FORMS["in_minutes"].search(situation.text)
    found = _FORMS["can_make"].match(_FORMS["in_minutes"].sub("", situation.text))
    described = None if found is None else _described(found)
    if found is None or described is None:
        return None
    if minutes is not None:
        described.append(at_most_minutes(int(minutes["minutes"])))
    source = (found["from"] or found["from2"] or found["from3"] or "").strip(" ,?")
    if source and not _FORMS["own_stock"].match(source):
        held = await _held(situation, source)
        if held is None:
            return None
        described += held
    steps = situation.steps
    filters = described
    likely = None if filters else await situation.likely(())
    read = [
        read_recipes(steps, 0, filters, likely),
        read_stock(steps, 0, likely),
        read_profile(steps, 0),
    ]
    told = "See what can be made with what is there"
    steps.analyze(
        told, "recipes", 1, "match_recipes", read, constraints=list(situation.asked.constraints)
    )
    return steps.done(told)


async def _held(situation: Situation, source: str) -> list[dict[str, Any]] | None:
    """Return what recipes must hold or must not, or None if that names no food anybody knows."""
    plain = re.sub(r"^(?:with|using|from|the|my)\s+", "", source, flags=re.I)
    is_plain = re.match(r"(?:without|under|in under|that)\b", plain, re.I) is None
    said = f"with {plain}" if is_plain else plain
    for word in re.split(r"\b(?:with|without)\b", said, flags=re.I):
        for item in read_items(re.sub(r"\s+(?:under|in under|within)\b.*", "", word.strip())):
            near = {"field": "name", "op": "ilike", "value": f"%{item.name.replace('%', '')}%"}
            if not food_facts(item.name).is_food and not await situation.rows(
                table="ingredients", columns=["id"], filters=[near], limit=1
            ):
                return None
    return recipe_filters("", said)


def _described(found: re.Match[str]) -> list[dict[str, Any]] | None:
    """Return what the words before "dinner" ask for, or None if they say nothing here."""
    kind = found["kind"] or found["kind2"] or ""
    if str(found["verb"] or "").casefold() in ("give me", "show me"):
        # Whoever wants a certain dish shown or given asks for something else.
        return [] if _FORMS["plain_kind"].fullmatch(kind) else None
    return recipe_filters(kind, "")


async def _made_up(situation: Situation) -> Routed | None:
    found = _FORMS["make_me"].match(situation.text)
    if found is None or re.match(r"^(?:it|that|this)\b", found["wish"], re.I):
        return None
    clash = find_clash(found["wish"], await situation.profile() or None)
    if clash is not None and _must_ask(situation, clash):
        return Routed(question=clash.question)
    steps = situation.steps
    read = [read_stock(steps, 0), read_profile(steps, 0)]
    details: dict[str, Any] = {"wish": found["wish"].strip()[:200]}
    people = read_count(found["people"] or "")
    if people:
        details["servings"] = people
    told = f"Make up {found['wish'].strip()[:80]}"
    steps.generate(told, "recipes", 1, "recipe", read, **details)
    limit = "" if clash is None else clash.limit.replace("_", " ")
    assumptions = (f"Kept to {limit}: left out {clash.food}",) if clash is not None else ()
    return steps.done(told, assumptions)


def _must_ask(situation: Situation, clash: WishClash) -> bool:
    """Say whether a wish is asked about: it contradicts itself, and nobody has said what counts.

    What the profile forbids is simply left out.
    """
    is_answered = situation.text.endswith(")")
    may_ask = situation.asked.mode not in ("quick", "cook")
    return may_ask and not is_answered and not clash.is_from_profile


_FULL: Final = (
    "Only the name and the address are kept; your profile says recipes in full, and "
    "“callboard alfred import” reads a saved page"
)


async def route_links(situation: Situation) -> Routed | None:
    """Route a recipe that is kept as a link."""
    found = _FORMS["saved"].match(situation.text)
    if found is None:
        return None
    url = (found["url"] or found["url2"]).rstrip(".,;)")
    name = (found["name"] or found["name2"] or "").strip(" \"'“”.,:")
    if not name:
        return Routed(reply=f"What is it called? Say “save {url} as lemon cake”.")
    profile = await situation.profile()
    told = f"Save {name} as a link"
    record = {"name": name, "storage": "link", "source_type": "link", "source_url": url}
    assumed = () if profile and keeps_links(profile) else (_FULL,)
    return situation.writing(told, assumed, op="create", table="recipes", records=[record])
