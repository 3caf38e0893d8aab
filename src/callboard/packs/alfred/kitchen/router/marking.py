"""Marking and setting: a status, a number, a place, a name, a rating of what is already there."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from callboard.choreography.turn.domain import Routed
from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.compute.amounts import spoken_amount
from callboard.packs.alfred.kitchen.router.meals import find_recipes
from callboard.packs.alfred.kitchen.router.situation import (
    BEHIND,
    INVENTORY,
    OPEN,
    SHOPPING,
    Situation,
    among,
    find_target,
    names,
    present,
    same,
)
from callboard.packs.alfred.kitchen.router.words import forms, read_count, read_item, read_items

_FORMS: Final = forms("marking")

_STATES: Final = {
    "bought": "purchased", "purchased": "purchased", "got": "purchased", "in cart": "in_cart",
    "in the cart": "in_cart", "in basket": "in_cart", "in my basket": "in_cart", "needed": "needed",
}  # fmt: skip
_TASK_STATES: Final = {
    "done": "done", "finished": "done", "complete": "done", "completed": "done",
    "cancelled": "cancelled", "canceled": "cancelled", "open": "open",
}  # fmt: skip


async def route_marking(situation: Situation) -> Routed | None:
    """Route what changes something that is already there."""
    for route in (_all_of, _recipe_deletion, _checked_off, _marked, _servings, _rated, _renamed):
        routed = await route(situation)
        if routed is not None:
            return routed
    return await _moved(situation) or await _quantity(situation)


async def _all_of(situation: Situation) -> Routed | None:
    found = _FORMS["delete_all"].match(situation.text)
    if found is None:
        return None
    noun = found["noun"].casefold()
    if noun.startswith("recipe"):
        table, anything = "recipes", "name"
    elif "plan" in noun:
        table, anything = "meal_plans", "plan_date"
    else:
        table, anything = "tasks", "description"
    filters = [present(anything)]
    return _delete(situation, f"Delete all {table.replace('_', ' ')}", table, filters)


async def _recipe_deletion(situation: Situation) -> Routed | None:
    found = _FORMS["delete_recipe"].match(situation.text)
    if found is None:
        return None
    name = (found["after"] or found["before"]).strip(" \"'“”")
    if re.fullmatch(r"(?:that|this|the|it|last)", name, re.I):
        known = [each for each in situation.asked.referenced if not each.startswith("temp_")]
        if len(known) != 1:
            return None
        return _delete(situation, "Delete the recipe", "recipes", [same("id", known[0])])
    return _delete(situation, f"Delete the recipe {name}", "recipes", [same("name", name)])


async def _checked_off(situation: Situation) -> Routed | None:
    found = _FORMS["check_off"].match(situation.text)
    if found is None:
        return None
    what = found["what"] or found["before"]
    return await _shopping_state(situation, what, "purchased") or await _task_state(
        situation, what, "done"
    )


async def _marked(situation: Situation) -> Routed | None:
    found = _FORMS["mark"].match(situation.text)
    if found is None:
        return None
    state = re.sub(r"\s+", " ", found["state"].casefold())
    what = re.sub(r"^(?:the\s+)?(?:task|reminder)\s+", "", found["what"], flags=re.I)
    if state in _STATES:
        return await _shopping_state(situation, what, _STATES[state], must_exist=False)
    is_task = await _task_state(situation, what, _TASK_STATES[state])
    if is_task is not None or state not in ("done", "finished"):
        return is_task
    return await _shopping_state(situation, what, "purchased")


async def _shopping_state(
    situation: Situation, what: str, state: str, *, must_exist: bool = True
) -> Routed | None:
    # "The list" as a whole, or things on it.
    if re.fullmatch(r"(?:everything|all(?: of (?:it|them))?|the whole list|my list)", what, re.I):
        return _update(
            situation, f"Mark everything as {state}", SHOPPING.table,
            [among("status", OPEN)], {"status": state},
        )  # fmt: skip
    targeted = BEHIND.match(what)
    items = read_items(targeted["items"] if targeted else what)
    if not items:
        return None
    wanted = [item.name for item in items]
    before = ["purchased", "in_cart"] if state == "needed" else list(OPEN)
    filters = [among("name", wanted), among("status", before)]
    if must_exist and not await situation.rows(
        table=SHOPPING.table, columns=["id"], filters=filters, limit=1
    ):
        return None
    told = f"Mark {names(wanted)} as {state.replace('_', ' ')}"
    return _update(situation, told, SHOPPING.table, filters, {"status": state})


async def _task_state(situation: Situation, what: str, state: str) -> Routed | None:
    from callboard.packs.alfred.kitchen.router.people import find_task

    task = await find_task(situation, what)
    if task is None:
        return None
    told = f"Mark {task['description']} as {state}"
    return _update(
        situation, told, "tasks", [same("id", task["id"])], {"status": state},
        {str(task["id"]): task["version"]},
    )  # fmt: skip


async def _servings(situation: Situation) -> Routed | None:
    found = _FORMS["servings"].match(situation.text)
    if found is None:
        return None
    count = read_count(found["count"] or found["count2"])
    recipe = found["recipe"] or found["recipe2"]
    if count is None:
        return None
    return await _recipe_change(situation, recipe, {"servings": count}, f"servings {count:g}")


async def _rated(situation: Situation) -> Routed | None:
    found = _FORMS["rate"].match(situation.text)
    if found is None:
        return None
    stars = int(found["stars"] or found["stars2"])
    recipe = found["recipe"] or found["recipe2"]
    return await _recipe_change(situation, recipe, {"rating": stars}, f"rating {stars}")


async def _renamed(situation: Situation) -> Routed | None:
    found = _FORMS["rename"].match(situation.text)
    if found is None:
        return None
    name = found["name"].strip(" \"'“”")
    return await _recipe_change(situation, found["recipe"], {"name": name}, f"name {name}")


async def _recipe_change(
    situation: Situation, recipe: str, values: dict[str, Any], told: str
) -> Routed | None:
    name = recipe.strip(" \"'“”")
    if re.fullmatch(r"(?:it|that|this|that one|this one|that recipe|this recipe)", name, re.I):
        known = [each for each in situation.asked.referenced if not each.startswith("temp_")]
        if len(known) != 1:
            return None
        return _update(situation, f"Set {told}", "recipes", [same("id", known[0])], values)
    rows = await find_recipes(situation, name)
    if len(rows) != 1:
        called = " or ".join(str(row["name"]) for row in rows)
        meant = f"Do you mean {called}?" if called else "“show my recipes” lists yours."
        told = f"No recipe is called “{name}”, so nothing was changed. {meant}"
        return Routed(reply=told, weak=True)
    changed = _update(
        situation, f"Set {rows[0]['name']}: {told}", "recipes",
        [same("id", rows[0]["id"])], values,
    )  # fmt: skip
    # What is only called so in part is shown first.
    is_near = name_key(str(rows[0]["name"])) != name_key(name)
    return replace(changed, unsure=is_near, weak=is_near)


async def _moved(situation: Situation) -> Routed | None:
    found = _FORMS["move"].match(situation.text)
    target = None if found is None else find_target(found["place"])
    if found is None or target is None or not target.place:
        return None
    items = read_items(found["what"])
    if not items:
        return None
    wanted = [item.name for item in items]
    return _update(
        situation, f"Move {names(wanted)} to the {target.title}", INVENTORY.table,
        [among("ingredient.name", wanted)], {"location": target.place},
    )  # fmt: skip


async def _quantity(situation: Situation) -> Routed | None:
    """Set how much there is of one thing, where there is only one row of it."""
    found = _FORMS["set"].match(situation.text)
    if found is None:
        return None
    behind = BEHIND.match(found["what"])
    amount_text, place = _split_place(found["amount"])
    named = behind["items"] if behind else found["what"]
    amount = (
        read_item(f"{amount_text} thing")
        if not re.search(r"[^\W\d]", amount_text)
        else read_item(f"{amount_text} of thing")
    )
    item = read_item(named)
    if amount is None or item is None or amount.quantity is None:
        return None
    told = behind["target"] if behind else place
    targets = [find_target(told)] if told else [SHOPPING, INVENTORY]
    rows = [
        (target, row)
        for target in targets
        for row in await situation.rows(
            table=target.table, filters=[same(target.name_field, item.name), *target.scope], limit=3
        )
    ]
    if len(rows) != 1:
        return None
    target, row = rows[0]
    told = spoken_amount(amount.quantity, amount.unit)
    values: dict[str, Any] = {"quantity": amount.quantity}
    if amount.unit is not None:
        values["unit"] = amount.unit
    return _update(
        situation, f"Set {item.name} to {told} on the {target.title}", target.table,
        [same("id", row["id"])], values, {str(row["id"]): row["version"]},
    )  # fmt: skip


def _split_place(text: str) -> tuple[str, str]:
    found = BEHIND.match(text)
    return (found["items"], found["target"]) if found else (text, "")


def _update(
    situation: Situation,
    what: str,
    table: str,
    filters: Sequence[dict[str, Any]],
    values: dict[str, Any],
    versions: dict[str, int] | None = None,
) -> Routed:
    return situation.writing(
        what, op="update", table=table, filters=list(filters), set=values, versions=versions or {}
    )


def _delete(situation: Situation, what: str, table: str, filters: list[dict[str, Any]]) -> Routed:
    return situation.writing(what, op="delete", table=table, filters=filters)
