"""Adding: what is put on the list, into a place at home, or was bought."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Any, Final

from callboard.choreography.turn.domain import Routed
from callboard.packs.alfred.kitchen.lexicon import food_facts
from callboard.packs.alfred.kitchen.router.situation import Situation, Steps, among, same
from callboard.packs.alfred.kitchen.router.words.dates import DAY, PERIOD, read_day
from callboard.packs.alfred.kitchen.router.words.items import (
    MOST_ITEMS,
    Item,
    is_known,
    read_things,
    split_items,
)
from callboard.packs.alfred.kitchen.router.words.lexicon import any_of
from callboard.packs.alfred.kitchen.router.words.targets import (
    INVENTORY,
    LIST,
    OF_OURS,
    SHOPPING,
    Target,
    in_place,
    names,
    targeted,
)

_ADD: Final = re.compile(
    r"^(?:add|put|place|stick|throw|toss|store|stock|write|note)\s+(?P<rest>.+)$", re.I | re.S
)
_BUY: Final = re.compile(
    r"^(?:(?:i|we)(?: also| still)? (?:need|have) to )?(?P<verb>buy|get|pick up|order|(?:i|we)"
    r"(?: also| still)? need|need)\s+(?P<rest>.+)$",
    re.I | re.S,
)
_LISTED: Final = re.compile(rf"^{OF_OURS}{LIST}\s*:\s*(?P<rest>.+)$", re.I | re.S)
# What it is for says nothing about the thing: milk for tomorrow is milk.
_OCCASION: Final = re.compile(
    rf"\s+for\s+(?:the\s+|my\s+)?(?:{DAY}|{PERIOD}|{any_of('meals')})$", re.IGNORECASE
)
_BOUGHT: Final = re.compile(
    r"^(?:(?:i|we)(?:'ve| have| just|'ve just)? )?(?:just )?(?:bought|got|picked up|purchased)"
    r"\s+(?P<rest>.+)$",
    re.I | re.S,
)
_FREEZE: Final = re.compile(r"^freeze\s+(?P<rest>.+)$", re.I | re.S)
_EXPIRES: Final = re.compile(
    r"[,;]?\s*(?:\(\s*)?(?:which |that )?(?:expir(?:es|ing)|best before|use by|good until"
    rf"|goes off)(?: on| by)?\s+(?P<day>{DAY})\s*\)?",
    re.I,
)


async def route_adding(situation: Situation) -> Routed | None:
    """Route what is to be put on the list or into the house."""
    text = situation.text
    frozen = _FREEZE.match(text)
    if frozen is not None:
        return _adding(situation, [(frozen["rest"], in_place("freezer"))])
    bought = _BOUGHT.match(text)
    if bought is not None:
        return await _bought(situation, bought["rest"])
    added = _ADD.match(text)
    if added is not None:
        rest = _OCCASION.sub("", added["rest"])
        parts = targeted(rest)
        if parts:
            return _adding(situation, parts)
        # To put a thing somewhere is not to buy it: without a place nobody can tell.
        is_plain = text.casefold().startswith(("add ", "note ", "write "))
        return await _untargeted(situation, rest) if is_plain else None
    buying = _BUY.match(text)
    if buying is not None:
        return _buying(situation, _OCCASION.sub("", buying["rest"]), buying["verb"])
    listed = _LISTED.match(text)
    return None if listed is None else _adding(situation, [(listed["rest"], SHOPPING)])


def _buying(situation: Situation, text: str, verb: str) -> Routed | None:
    """Put things on the list; who needs or gets what nobody sells means something else."""
    parts = targeted(text)
    if not parts and verb.casefold() != "buy":
        items = read_things(text)
        if not any(is_known(item) for item in items):
            return None
    return _adding(situation, parts or [(text, SHOPPING)])


def _adding(situation: Situation, parts: Sequence[tuple[str, Target]]) -> Routed | None:
    steps = situation.steps
    told: list[str] = []
    for text, target in parts:
        step = _add_step(steps, situation, text, target)
        if step is None:
            return None
        told.append(step)
    return Routed(steps=tuple(steps.made), goal="; ".join(told))


def _add_step(steps: Steps, situation: Situation, text: str, target: Target) -> str | None:
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
        named.append(items[0].name)
    if not 0 < len(records) <= MOST_ITEMS:
        return None
    what = f"Add {names(named)} to the {target.title}"
    steps.write(what, target.subdomain, op="upsert", table=target.table, records=records)
    return what


def _dated(text: str, situation: Situation) -> tuple[str, date | None] | None:
    """Return a thing and the day it expires on, if one is named; None if that is no day."""
    found = _EXPIRES.search(text)
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
    steps.write(what, "tasks", op="create", table="tasks", records=records)
    return what


def _placed(record: dict[str, Any], target: Target, expires: date | None) -> dict[str, Any]:
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
        what = f"Add {names([item.name for item in rest])} to the inventory"
        records = [item.record("ingredient") for item in rest]
        steps.write(
            what,
            "inventory",
            1 if listed else 0,
            op="upsert",
            table=INVENTORY.table,
            records=records,
        )
    return Routed(steps=tuple(steps.made), goal=steps.made[0].description)


def _tick_off(steps: Steps, items: Sequence[Item], values: dict[str, Any]) -> None:
    if not items:
        return
    wanted = [item.name for item in items]
    steps.write(
        f"Mark {names(wanted)} as bought", "shopping", op="update", table=SHOPPING.table,
        filters=[among("name", wanted), *SHOPPING.scope], set={**values, "status": "purchased"},
    )  # fmt: skip


async def _listed(situation: Situation, items: Sequence[Item]) -> list[Item]:
    found: list[Item] = []
    for item in items:
        filters = [same("name", item.name), *SHOPPING.scope]
        if await situation.rows(table=SHOPPING.table, columns=["id"], filters=filters, limit=1):
            found.append(item)
    return found
