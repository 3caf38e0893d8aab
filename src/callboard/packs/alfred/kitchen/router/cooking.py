"""At the stove: begin with a recipe, walk through it, finish it. One per conversation."""

import re
from typing import Final

from callboard.choreography.turn.domain import Routed
from callboard.packs.alfred.kitchen.cooking import (
    CookCommand,
    CookSession,
    CookSessions,
    read_command,
)
from callboard.packs.alfred.kitchen.router.meals import POINTING, find_recipe, find_recipes
from callboard.packs.alfred.kitchen.router.situation import Situation, read_recipe, same
from callboard.packs.alfred.kitchen.router.words import forms, read_count

_FORMS: Final = forms("cooking")
_TIMES: Final = {"double": 2.0, "halve": 0.5, "triple": 3.0}

_MOST_WORDS_AFTER_DONE: Final = 6


async def route_cooking(situation: Situation, cooks: CookSessions, now_ms: int) -> Routed | None:
    """Route what is said while cooking, or what begins it."""
    session_id = situation.asked.who.session_id
    cooking = cooks.get(session_id) if session_id else None
    if cooking is not None:
        command = read_command(situation.text)
        if command is not None and _is_meant(command, situation.text):
            return await _follow(situation, cooks, cooking, command, now_ms)
    answered = _FORMS["agreed"].search(situation.text)
    text = situation.text if answered is None else situation.text[: answered.start()]
    started = _FORMS["start"].match(text)
    if started is None or not session_id:
        return _idle(situation)
    is_agreed = answered is not None
    return await _begin(situation, cooks, started, now_ms, is_agreed=is_agreed)


def _idle(situation: Situation) -> Routed | None:
    """Say what a timer needs, where nothing is on the stove."""
    command = read_command(situation.text)
    if command is None or command.kind != "timer":
        return None
    return Routed(
        reply="Nothing is on the stove, so there is nothing to time. Say “I'm making shakshuka”, "
        "or “remind me in 10 minutes to check the oven”."
    )


async def _begin(
    situation: Situation,
    cooks: CookSessions,
    found: re.Match[str],
    now_ms: int,
    *,
    is_agreed: bool,
) -> Routed | None:
    name = found["what"]
    if _FORMS["no_dish"].fullmatch(name):
        return Routed(reply="What are you making? Say it by name: “I'm making shakshuka for 4”.")
    near = await find_recipes(situation, name)
    recipe = near[0] if len(near) == 1 else None
    if recipe is None:
        if situation.text.casefold().startswith("cook "):
            return None
        if near:
            listed = ", ".join(f"“{row['name']}”" for row in near)
            return Routed(reply=f"Which one are you making: {listed}? Say it by its whole name.")
        return Routed(
            reply=f"You have no recipe called “{name}”. Say “make me a {name} recipe” for a draft."
        )
    rows = await situation.minded(
        await situation.rows(
            table="recipes",
            filters=[same("id", recipe["id"])],
            include=["ingredients", "steps", "tags"],
        )
    )
    mind: list[str] = list(rows[0].get("mind") or ())
    if mind and not is_agreed:
        return Routed(question=f"{'. '.join(mind)}. Shall we cook it all the same?")
    cooking = CookSession.of(rows[0], _people(found["people"]), now_ms)
    await cooks.put(situation.asked.who.session_id, cooking)
    steps = situation.steps
    steps.read(
        f"Take out the recipe for {cooking.name}",
        table="recipes",
        columns=["id", "name", "servings", "total_minutes"],
        filters=[same("id", cooking.recipe_id)],
    )
    _, listed = cooking.follow(CookCommand("ingredients"), now_ms)
    told = f"Cooking {cooking.name} for {cooking.servings:g}. You need:\n{listed}\nSay “next”."
    told = "\n".join([*(f"Mind: {each}." for each in mind), told])
    return steps.done(f"Cook {cooking.name}", reply=told, pins=(cooking.recipe_id,))


async def _follow(
    situation: Situation,
    cooks: CookSessions,
    cooking: CookSession,
    command: CookCommand,
    now_ms: int,
) -> Routed:
    session_id = situation.asked.who.session_id
    after, told = cooking.follow(command, now_ms)
    if command.kind == "stop":
        await cooks.end(session_id)
        return Routed(reply=told, unpins=(cooking.recipe_id,))
    if command.kind != "done":
        await cooks.put(session_id, after)
        return Routed(reply=told)
    request = cooking.finish(now_ms, rating=command.number, deducts=command.deducts)
    await cooks.end(session_id)
    steps = situation.steps
    steps.write(
        f"Log {cooking.name} as cooked",
        op=request.op,
        table=request.table,
        records=request.records,
    )
    return steps.done(f"Finish {cooking.name}", unpins=(cooking.recipe_id,))


def _is_meant(command: CookCommand, text: str) -> bool:
    """Say whether a command is about the dish: "done with the dishes" is not."""
    if command.kind == "how_much":
        return _FORMS["about_stock"].search(text) is None
    if command.kind != "done" or command.number is not None:
        return True
    rest = command.text.split()
    return len(rest) <= _MOST_WORDS_AFTER_DONE and (not rest or rest[0] not in ("with", "the"))


def _people(word: str | None) -> float | None:
    if not word:
        return None
    return read_count(word)


async def route_scaled(situation: Situation) -> Routed | None:
    """Show a recipe for another number of people; the recipe itself stays as it is."""
    found = _FORMS["scaled"].match(situation.text)
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
    return steps.done(told)
