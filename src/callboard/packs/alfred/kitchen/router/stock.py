"""Stock: what is put on the list or into the house, what was bought, what is said to be there."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Any, Final

from callboard.choreography.turn.domain import Routed, Row
from callboard.packs.alfred.kitchen.compute.rows import FoodCatalogue
from callboard.packs.alfred.kitchen.food.foods import food_facts
from callboard.packs.alfred.kitchen.router.dates import read_day
from callboard.packs.alfred.kitchen.router.situation import (
    INVENTORY,
    SHOPPING,
    Situation,
    Steps,
    StockTarget,
    among,
    in_place,
    names,
    same,
    targeted,
)
from callboard.packs.alfred.kitchen.router.words import (
    MOST_ITEMS,
    Item,
    forms,
    is_known,
    read_item,
    read_things,
    split_items,
)

_FORMS: Final = forms("stock")


async def route_adding(situation: Situation) -> Routed | None:
    """Route what is to be put on the list or into the house."""
    text = situation.text
    frozen = _FORMS["freeze"].match(text)
    if frozen is not None:
        return _adding(situation, [(frozen["rest"], in_place("freezer"))])
    bought = _FORMS["bought"].match(text)
    if bought is not None:
        return await _bought(situation, bought["rest"])
    added = _FORMS["add"].match(text)
    if added is not None:
        rest = _FORMS["occasion"].sub("", added["rest"])
        parts = targeted(rest)
        if parts:
            return _adding(situation, parts)
        # To put a thing somewhere is not to buy it: without a place nobody can tell.
        is_plain = text.casefold().startswith(("add ", "note ", "write "))
        return await _untargeted(situation, rest) if is_plain else None
    buying = _FORMS["buy"].match(text)
    if buying is not None:
        return _buying(situation, _FORMS["occasion"].sub("", buying["rest"]), buying["verb"])
    listed = _FORMS["listed"].match(text)
    return None if listed is None else _adding(situation, [(listed["rest"], SHOPPING)])


def _buying(situation: Situation, text: str, verb: str) -> Routed | None:
    """Put things on the list; who needs or gets what nobody sells means something else."""
    parts = targeted(text)
    if not parts and verb.casefold() != "buy":
        items = read_things(text)
        if not any(is_known(item) for item in items):
            return None
    return _adding(situation, parts or [(text, SHOPPING)])


def _adding(situation: Situation, parts: Sequence[tuple[str, StockTarget]]) -> Routed | None:
    steps = situation.steps
    told = [_add_step(steps, situation, text, target) for text, target in parts]
    return steps.done("; ".join(filter(None, told))) if all(told) else None


def _add_step(steps: Steps, situation: Situation, text: str, target: StockTarget) -> str | None:
    if target.table == "tasks":
        return _add_task(steps, text)
    records: list[dict[str, Any]] = []
    named: list[str] = []
    column = "name" if target is SHOPPING else "ingredient"
    for part in split_items(text):
        dated = _dated(part, situation)
        items = () if dated is None else read_things(dated[0])
        if dated is None or len(items) != 1:
            return None
        records.append(_placed(items[0].record(column), target, dated[1]))
        named.append(items[0].told)
    if not 0 < len(records) <= MOST_ITEMS:
        return None
    what = f"Add {names(named)} to the {target.title}"
    steps.write(what, op="upsert", table=target.table, records=records)
    return what


def _dated(text: str, situation: Situation) -> tuple[str, date | None] | None:
    """Return a thing and the day it expires on, if one is named; None if that is no day."""
    found = _FORMS["expires"].search(text)
    if found is None:
        return text, None
    day = read_day(found["day"], situation.today)
    rest = f"{text[: found.start()]} {text[found.end() :]}".strip()
    return None if day is None else (rest, day)


def _add_task(steps: Steps, text: str) -> str | None:
    description = text.strip(" \"'“”")
    if not description:
        return None
    what = f"Add a task: {description}"
    records = [{"description": description}]
    steps.write(what, op="create", table="tasks", records=records)
    return what


def _placed(record: dict[str, Any], target: StockTarget, expires: date | None) -> dict[str, Any]:
    if target.place:
        record["location"] = target.place
    if expires is not None and target.table == "inventory_items":
        record["expires_on"] = expires.isoformat()
    return record


async def _untargeted(situation: Situation, text: str) -> Routed | None:
    """Add to the shopping list, unless the name is that of a recipe."""
    items = read_things(text)
    if not items or re.search(r"(?:^|\s)(?:to|on|onto|into|for)\s", text):
        return None
    unknown = [item.name for item in items if not food_facts(item.name).is_food]
    if unknown and await situation.rows(
        table="recipes", columns=["id"], filters=[among("name", unknown)], limit=1
    ):
        return None
    return _adding(situation, [(text, SHOPPING)])


async def _bought(situation: Situation, text: str) -> Routed | None:
    """What was on the list is marked as bought; what was not goes straight into the house."""
    parts = targeted(text)
    if parts:
        return _adding(situation, parts)
    items = read_things(text)
    if not items:
        return None
    listed = await _listed(situation, items)
    steps = situation.steps
    _tick_off(steps, [item for item in listed if item.quantity is None], {})
    for item in listed:
        if item.quantity is not None:
            # As much as was bought goes into the house, whatever the list said.
            _tick_off(steps, [item], {"quantity": item.quantity, "unit": item.unit})
    rest = [item for item in items if item not in listed]
    if rest:
        _put_in(steps, rest, INVENTORY, 1 if listed else 0)
    return steps.done(steps.made[0].description)


def _tick_off(steps: Steps, items: Sequence[Item], values: dict[str, Any]) -> None:
    if not items:
        return
    wanted = [item.name for item in items]
    steps.write(
        f"Mark {names(wanted)} as bought", op="update", table=SHOPPING.table,
        filters=[among("name", wanted), *SHOPPING.scope], set={**values, "status": "purchased"},
    )  # fmt: skip


async def _listed(situation: Situation, items: Sequence[Item]) -> list[Item]:
    found: list[Item] = []
    for item in items:
        filters = [same("name", item.name), *SHOPPING.scope]
        if await situation.rows(table=SHOPPING.table, columns=["id"], filters=filters, limit=1):
            found.append(item)
    return found


_MOST_CHANGED: Final = 3
_WAY_OUT: Final = (
    "I cannot tell what that corrects. Say “undo” to take back the last change, or how much there "
    "is: “set tomatoes to 3”."
)


async def route_statements(situation: Situation) -> Routed | None:
    """Route what somebody says there is, and what they correct."""
    corrected = _FORMS["corrected"].match(situation.text)
    corrected = corrected or _FORMS["recounted"].match(situation.text)
    if corrected is not None:
        return await _correct(situation, corrected["rest"], corrected["wrong"])
    stated = _FORMS["have"].match(situation.text)
    if stated is None:
        return None
    said = f"{stated['ahead'] or ''}{stated['rest']}"
    return await _state(situation, targeted(said) or [(said, INVENTORY)])


async def _state(situation: Situation, parts: list[tuple[str, StockTarget]]) -> Routed | None:
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
            _put_in(steps, new, target)
    if not steps.made:
        return Routed(reply=f"Noted already: {names(there)}.")
    return steps.done()


def _is_food(item: Item) -> bool:
    return food_facts(item.name).is_food


async def _rows(situation: Situation, item: Item, target: StockTarget) -> list[Row]:
    filters = [same(target.name_field, item.name), *target.scope]
    return list(await situation.rows(table=target.table, filters=filters, limit=5))


def _which(item: Item, rows: list[Row]) -> str:
    places = names(sorted({str(row["location"]) for row in rows}))
    return (
        f"There is {item.name} in more than one place or pack ({places}), so I cannot tell which "
        f"one you counted. Say for example “set {item.name} in the {rows[0]['location']} to …”."
    )


def _put_in(steps: Steps, items: Sequence[Item], target: StockTarget, group: int = 0) -> None:
    records = [item.record("ingredient") for item in items]
    if target.place:
        records = [{**record, "location": target.place} for record in records]
    what = f"Add {names([item.told for item in items])} to the {target.title}"
    steps.write(what, group, op="upsert", table=INVENTORY.table, records=records)


def _set(steps: Steps, target: StockTarget, item: Item, row: Row) -> None:
    values: dict[str, Any] = {"quantity": item.quantity, "unit": item.unit}
    row_id = str(row["id"])
    steps.write(
        f"Set {item.told} on the {target.title}", op="update",
        table=target.table, filters=[same("id", row_id)], set=values,
        versions={row_id: row["version"]},
    )  # fmt: skip


_OF_LAST: Final = ("instead", "recounted")


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
    elif number is not None and any(_FORMS[e].match(situation.text) for e in _OF_LAST):
        item, found = number, _latest(await _changed(situation, None))
    if item is None and number is None and wrong is None:
        return None
    if item is None or found is None:
        return Routed(reply=_WAY_OUT)
    target, row = found
    unit = item.unit if item.unit is not None else row["unit"]
    steps = situation.steps
    _set(steps, target, Item(FoodCatalogue().name(row), item.quantity, unit), row)
    return steps.done(steps.made[0].description)


async def _changed(situation: Situation, name: str | None) -> list[tuple[StockTarget, Row]]:
    """Return what is on the list or in the house, what was changed last in front."""
    rows: list[tuple[StockTarget, Row]] = []
    for target in (SHOPPING, INVENTORY):
        filters = [*target.everything] + ([among(target.name_field, [name])] if name else [])
        found = await situation.rows(
            table=target.table, filters=filters, include=["ingredient"],
            order_by=[{"column": "updated_at", "dir": "desc"}], limit=_MOST_CHANGED,
        )  # fmt: skip
        rows += [(target, row) for row in found]
    return sorted(rows, key=lambda each: str(each[1]["updated_at"]), reverse=True)


def _latest(rows: list[tuple[StockTarget, Row]]) -> tuple[StockTarget, Row] | None:
    """Return what was changed last, if that is one thing."""
    if len(rows) > 1 and rows[0][1]["updated_at"] == rows[1][1]["updated_at"]:
        return None
    return rows[0] if rows else None
