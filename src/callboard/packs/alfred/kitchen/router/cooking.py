"""At the stove: begin with a recipe, walk through it, finish it. One per conversation."""

import re
from dataclasses import replace
from typing import Any, Final

from callboard.choreography.turn.domain import Routed, Row
from callboard.packs.alfred.kitchen.compute.rows import is_scalable
from callboard.packs.alfred.kitchen.cooking import (
    CookCommand,
    CookSession,
    CookSessions,
)
from callboard.packs.alfred.kitchen.router.meals import POINTING, find_recipe, find_recipes
from callboard.packs.alfred.kitchen.router.situation import Situation, Steps, read_recipe, same
from callboard.packs.alfred.kitchen.router.stove import read_command, without_remarks
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
        rescaled = await _rescaled(situation, cooks, cooking)
        if rescaled is not None:
            return rescaled
    agreed = _FORMS["agreed"].search(situation.text)
    if agreed is not None:
        text, answer = situation.text[: agreed.start()], None
    else:
        text, answer = _answered(situation.text)
    started = _FORMS["start"].match(text)
    if started is None or not session_id:
        return _idle(situation)
    return await _begin(situation, cooks, started, answer, now_ms)


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
    answer: str | None,
    now_ms: int,
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
    if mind and answer is not None:
        return Routed(question=f"{'. '.join(mind)}. Shall we cook it all the same?")
    people = _people(found["people"])
    # Nobody is asked twice about one request: after a yes it is cooked as it is written.
    sized = rows[0] if answer is None else _sized(rows[0], people, answer)
    if sized is None:
        return Routed(question=_how_many(recipe["name"]))
    cooking = CookSession.of(sized, people if is_scalable(sized) else None, now_ms)
    await cooks.put(situation.asked.who.session_id, cooking)
    steps = situation.steps
    has_noted = _note_servings(steps, rows[0], sized)
    steps.read(
        f"Take out the recipe for {cooking.name}",
        1 if has_noted else 0,
        table="recipes",
        columns=["id", "name", "servings", "total_minutes"],
        filters=[same("id", cooking.recipe_id)],
    )
    _, listed = cooking.follow(CookCommand("ingredients"), now_ms)
    told = f"Cooking {cooking.name} {cooking.amount}. You need:\n{listed}\nSay “next”."
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
    rest = re.sub(r"^(?:with )?cooking\b.*", "", command.text).split()
    return len(rest) <= _MOST_WORDS_AFTER_DONE and (not rest or rest[0] not in ("with", "the"))


async def _rescaled(
    situation: Situation, cooks: CookSessions, cooking: CookSession
) -> Routed | None:
    """Cook what is on the stove for more or fewer; where the cook is stays."""
    found = _FORMS["rescaled"].match(without_remarks(situation.text)[0])
    if found is None:
        return None
    if cooking.servings is None:
        return Routed(
            reply=f"{cooking.name} does not say for how many it is. Say “set servings of "
            f"{cooking.name} to 4”, then begin again."
        )
    counts = [read_count(found[name] or "") or 0.0 for name in ("count", "count2", "kids")]
    people = sum(counts)
    if found["times"]:
        people = cooking.servings * _TIMES[found["times"].casefold()]
    elif found["more"]:
        step = read_count(found["step"]) or 1.0
        people = cooking.servings + (step if found["more"].casefold() == "more" else -step)
    if people <= 0:
        return None
    rows = await situation.rows(
        table="recipes", filters=[same("id", cooking.recipe_id)], include=["ingredients", "steps"]
    )
    if not rows:
        return None
    again = CookSession.of({**rows[0], "servings": rows[0]["servings"] or 1}, people, 0)
    after = replace(cooking, servings=people, ingredients=again.ingredients)
    await cooks.put(situation.asked.who.session_id, after)
    _, listed = after.follow(CookCommand("ingredients"), 0)
    return Routed(reply=f"Cooking {after.name} {after.amount} now. You need:\n{listed}")


def _people(word: str | None) -> float | None:
    if not word:
        return None
    return read_count(word)


async def route_scaled(situation: Situation) -> Routed | None:
    """Show a recipe for another number of people; the recipe itself stays as it is."""
    text, answer = _answered(situation.text)
    found = _FORMS["scaled"].match(text)
    if found is None:
        return None
    name = found["recipe"] or found["recipe2"] or found["recipe3"]
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
    if found["times"] or found["factor"]:
        # So many times is so many times, whatever number it is made for.
        factor = _TIMES.get((found["times"] or "").casefold())
        times = factor or float(found["factor"].replace(",", "."))
        return _scaling(situation, recipe, recipe, {"times": times})
    servings = read_count(found["count"] or "")
    if servings is None:
        return None
    sized = _sized(recipe, servings, answer)
    if sized is None:
        return Routed(question=_how_many(recipe["name"]))
    return _scaling(situation, recipe, sized, {"servings": servings})


def _scaling(situation: Situation, recipe: Row, sized: Row, wanted: dict[str, float]) -> Routed:
    steps = situation.steps
    group = 1 if _note_servings(steps, recipe, sized) else 0
    read = read_recipe(steps, group, same("id", recipe["id"]))
    if not is_scalable(sized) and "times" not in wanted:
        told = f"{recipe['name']} as written: nobody knows for how many that is"
        steps.analyze(told, "recipes", group + 1, "scale_recipe", [read])
        return steps.done(told, (told,))
    if "servings" in wanted:
        told = f"{recipe['name']} for {wanted['servings']:g}"
    else:
        told = f"{recipe['name']}, {wanted['times']:g} times as much"
    steps.analyze(told, "recipes", group + 1, "scale_recipe", [read], **wanted)
    return steps.done(told)


_ANSWER: Final = re.compile(r"^(?P<request>.+\S)\s+\((?P<answer>[^()]{1,80})\)$", re.S)
_COUNTED: Final = re.compile(r"\b(\d{1,3}|[a-z]+)\b", re.I)


def _answered(text: str) -> tuple[str, str]:
    """Return a request, and what was said when it was asked about."""
    found = _ANSWER.match(text)
    return (text, "") if found is None else (found["request"], found["answer"])


def _how_many(name: Any) -> str:
    return f"{name} does not say for how many it is. For how many is it as written?"


def _sized(recipe: Row, people: float | None, answer: str) -> Row | None:
    """Return a recipe with the servings it is for as far as anybody knows; None is to be asked."""
    if people is None or is_scalable(recipe):
        return recipe
    if not answer:
        return None
    counts = (read_count(word) for word in _COUNTED.findall(answer))
    return {**recipe, "servings": next((each for each in counts if each), None)}


def _note_servings(steps: Steps, recipe: Row, sized: Row) -> bool:
    """Keep with a recipe for how many it is, once somebody has said so."""
    if sized["servings"] == recipe["servings"]:
        return False
    steps.write(
        f"Note that {recipe['name']} is for {sized['servings']:g}",
        op="update",
        table="recipes",
        filters=[same("id", recipe["id"])],
        set={"servings": sized["servings"]},
    )
    return True
