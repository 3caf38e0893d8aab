"""Statements: what somebody says there is. It is so from now on, and does not come on top.

A correction ("no, 3 tomatoes", "3 not 4") is a statement about what was changed last.
"""

import re
from typing import Any, Final

from callboard.choreography.turn.domain import Routed, Row
from callboard.packs.alfred.kitchen.compute.rows import Catalogue
from callboard.packs.alfred.kitchen.lexicon import food_facts
from callboard.packs.alfred.kitchen.router.situation import Situation, Steps, among, same
from callboard.packs.alfred.kitchen.router.words.items import Item, read_item, read_things
from callboard.packs.alfred.kitchen.router.words.targets import (
    INVENTORY,
    OF_OURS,
    SHOPPING,
    TARGET,
    Target,
    names,
    targeted,
)

_HAVE: Final = re.compile(
    rf"^(?P<ahead>(?:in|on|at)\s+{OF_OURS}{TARGET}\s+)?"
    r"(?:(?:i|we)(?:'ve| have)(?: still| also| only| now)*(?: got)?|(?:i|we) still have"
    r"|there(?:'s| is| are))\s+(?:(?:also|still|only|now|just)\s+)*(?P<rest>.+?)"
    r"(?:\s+(?:left|now|remaining))*$",
    re.I | re.S,
)
_CORRECTED: Final = re.compile(
    r"^(?:(?:no|nope|oops|wait|sorry|correction|actually|i meant?|not quite)[,:.]?\s+)+"
    r"(?:(?:i meant?|it'?s|make (?:that|it)|only|just|there (?:are|is)|i have|we have)\s+)*"
    r"(?P<rest>.+?)(?:,?\s+(?:and\s+)?not\s+(?P<wrong>.+))?$",
    re.I | re.S,
)
_MOST_CHANGED: Final = 3
_WAY_OUT: Final = (
    "I cannot tell what that corrects. Say “undo” to take back the last change, or how much there "
    "is: “set tomatoes to 3”."
)


async def route_statements(situation: Situation) -> Routed | None:
    """Route what somebody says there is, and what they correct."""
    corrected = _CORRECTED.match(situation.text)
    if corrected is not None:
        return await _correct(situation, corrected["rest"], corrected["wrong"])
    stated = _HAVE.match(situation.text)
    if stated is None:
        return None
    said = f"{stated['ahead'] or ''}{stated['rest']}"
    return await _state(situation, targeted(said) or [(said, INVENTORY)])


async def _state(situation: Situation, parts: list[tuple[str, Target]]) -> Routed | None:
    steps = situation.steps
    there: list[str] = []
    for text, target in parts:
        items = read_things(text)
        # Somebody may have guests, or an hour: only food is in the house.
        if not items or target.table != INVENTORY.table or not all(map(_is_food, items)):
            return None
        for item in items:
            rows = await _rows(situation, item, target)
            if len(rows) > 1 and item.quantity is not None:
                return Routed(reply=_which(item, rows))
            if rows and item.quantity is None:
                there.append(item.name)
            elif rows:
                _set(steps, target, item, rows[0])
        new = [item for item in items if not await _rows(situation, item, target)]
        if new:
            _add(steps, new, target)
    if not steps.made:
        return Routed(reply=f"Noted already: {names(there)}.")
    return Routed(steps=tuple(steps.made), goal="; ".join(each.description for each in steps.made))


def _is_food(item: Item) -> bool:
    return food_facts(item.name).is_food


async def _rows(situation: Situation, item: Item, target: Target) -> list[Row]:
    filters = [same(target.name_field, item.name), *target.scope]
    return list(await situation.rows(table=target.table, filters=filters, limit=5))


def _which(item: Item, rows: list[Row]) -> str:
    places = names(sorted({str(row["location"]) for row in rows}))
    return (
        f"There is {item.name} in more than one place or pack ({places}), so I cannot tell which "
        f"one you counted. Say for example “set {item.name} in the {rows[0]['location']} to …”."
    )


def _add(steps: Steps, items: list[Item], target: Target) -> None:
    records = [item.record("ingredient") for item in items]
    if target.place:
        records = [{**record, "location": target.place} for record in records]
    what = f"Add {names([item.name for item in items])} to the {target.title}"
    steps.write(what, "inventory", op="upsert", table=INVENTORY.table, records=records)


def _set(steps: Steps, target: Target, item: Item, row: Row) -> None:
    values: dict[str, Any] = {"quantity": item.quantity, "unit": item.unit}
    row_id = str(row["id"])
    steps.write(
        f"Set {item.name} on the {target.title}", target.subdomain, op="update",
        table=target.table, filters=[same("id", row_id)], set=values,
        versions={row_id: row["version"]},
    )  # fmt: skip


async def _correct(situation: Situation, said: str, wrong: str | None) -> Routed | None:
    item = read_item(said)
    number = read_item(f"{said} thing") if item is None else None
    if item is not None and item.quantity is None and wrong is None:
        # "No, that is fine" corrects nothing.
        return None
    found = None
    if item is not None and item.quantity is not None:
        found = _latest(await _changed(situation, item.name))
    elif number is not None and wrong is not None:
        item, was = number, read_item(f"{wrong} thing")
        amount = None if was is None else was.quantity
        # Several things may have been changed at once; the wrong number tells which is meant.
        changed = await _changed(situation, None)
        found = _latest([each for each in changed if each[1]["quantity"] == amount])
    if item is None or found is None:
        return Routed(reply=_WAY_OUT)
    target, row = found
    unit = item.unit if item.unit is not None else row["unit"]
    steps = situation.steps
    _set(steps, target, Item(Catalogue().name(row), item.quantity, unit), row)
    return Routed(steps=tuple(steps.made), goal=steps.made[0].description)


async def _changed(situation: Situation, name: str | None) -> list[tuple[Target, Row]]:
    """Return what is on the list or in the house, what was changed last in front."""
    rows: list[tuple[Target, Row]] = []
    for target in (SHOPPING, INVENTORY):
        filters = [*target.everything] + ([among(target.name_field, [name])] if name else [])
        found = await situation.rows(
            table=target.table, filters=filters, include=["ingredient"],
            order_by=[{"column": "updated_at", "dir": "desc"}], limit=_MOST_CHANGED,
        )  # fmt: skip
        rows += [(target, row) for row in found]
    return sorted(rows, key=lambda each: str(each[1]["updated_at"]), reverse=True)


def _latest(rows: list[tuple[Target, Row]]) -> tuple[Target, Row] | None:
    """Return what was changed last, if that is one thing."""
    if len(rows) > 1 and rows[0][1]["updated_at"] == rows[1][1]["updated_at"]:
        return None
    return rows[0] if rows else None
