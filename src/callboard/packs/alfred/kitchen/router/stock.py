"""Adding, taking out and counting what is in the house or on the list."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Any, Final

from callboard.choreography.turn.domain import Routed
from callboard.packs.alfred.kitchen.lexicon import food_facts
from callboard.packs.alfred.kitchen.router.situation import Situation, Steps, among, same
from callboard.packs.alfred.kitchen.router.words.dates import DAY, read_day
from callboard.packs.alfred.kitchen.router.words.items import (
    MOST_ITEMS,
    Item,
    read_items,
    split_items,
)
from callboard.packs.alfred.kitchen.router.words.targets import (
    BEHIND,
    INVENTORY,
    SHOPPING,
    TARGET,
    WHOLE,
    Target,
    find_target,
    in_place,
    names,
)

_ADD: Final = re.compile(
    r"^(?:add|put|place|stick|throw|toss|store|stock|write|note)\s+(?P<rest>.+)$", re.I | re.S
)
_BUY: Final = re.compile(
    r"^(?:buy|get|pick up|order|(?:i|we)(?: also)? need(?: to (?:buy|get))?|need)\s+(?P<rest>.+)$",
    re.I | re.S,
)
_BOUGHT: Final = re.compile(
    r"^(?:(?:i|we)(?:'ve| have| just|'ve just)? )?(?:just )?(?:bought|got|picked up|purchased)"
    r"\s+(?P<rest>.+)$",
    re.I | re.S,
)
_FREEZE: Final = re.compile(r"^freeze\s+(?P<rest>.+)$", re.I | re.S)
_REMOVE: Final = re.compile(
    r"^(?:remove|delete|take|cross|cross off|strike|drop|erase|scratch|get rid of)\s+(?P<rest>.+)$",
    re.I | re.S,
)
_DISCARD: Final = re.compile(
    r"^(?:(?:i|we) )?(?:threw|throw|toss|tossed|discard|discarded|chuck|chucked)(?: out| away)?"
    r"\s+(?P<rest>.+?)(?: out| away)?$",
    re.I | re.S,
)
_USED: Final = re.compile(
    r"^(?:(?:i|we)(?:'ve| have)? )?(?:used(?: up)?|ate|finished|drank|used|cooked with)\s+"
    r"(?P<rest>.+)$",
    re.I | re.S,
)
_OUT_OF: Final = re.compile(
    r"^(?:(?:i'm|i am|we're|we are|we've|i've) )?(?:(?:all |just )?(?:out of|run out of"
    r"|ran out of))\s+(?P<rest>.+)$"
    r"|^(?:(?:there (?:is|are)|there's|we have|i have) )?no (?:more )?(?P<gone>.+?)"
    r"\s+(?:left|at home|in the (?:house|fridge|freezer|pantry|kitchen))$",
    re.I | re.S,
)
_CLEAR: Final = re.compile(
    r"^(?:clear|empty|wipe)(?: out)?\s+(?P<target>(?:(?:my|the|our)\s+)?(?:whole "
    rf"|entire )?{TARGET})$"
    r"|^(?:delete|remove|clear)\s+(?:all(?: of)?|everything|all (?:the )?(?:items|things))\s+"
    r"(?:(?:from|in|on|off)\s+)?"
    rf"(?P<other>(?:(?:my|the|our)\s+)?{TARGET})$",
    re.I,
)
_EXPIRES: Final = re.compile(
    r"[,;]?\s*(?:\(\s*)?(?:which |that )?(?:expir(?:es|ing)|best before|use by|good until"
    rf"|goes off)(?: on| by)?\s+(?P<day>{DAY})\s*\)?",
    re.I,
)
# An item that sounds like more than a thing is none.
_NO_THING: Final = re.compile(
    r"\b(?:recipe|recipes|task|reminder|to do|then|because|if|please|should|could|missing|"
    r"what|that|this|it|them|those|these|everything|all|plan|dinner|lunch|breakfast|servings)\b",
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
        parts = _targeted(added["rest"])
        if parts:
            return _adding(situation, parts)
        # To put a thing somewhere is not to buy it: without a place nobody can tell.
        is_plain = text.casefold().startswith(("add ", "note ", "write "))
        return await _untargeted(situation, added["rest"]) if is_plain else None
    buying = _BUY.match(text)
    if buying is not None:
        parts = _targeted(buying["rest"]) or [(buying["rest"], SHOPPING)]
        return _adding(situation, parts)
    return None


async def route_removing(situation: Situation) -> Routed | None:
    """Route what is to be taken off the list or out of the house."""
    text = situation.text
    cleared = _CLEAR.match(text)
    if cleared is not None:
        whole = WHOLE.match(cleared["target"] or cleared["other"])
        return None if whole is None else _clearing(situation, find_target(whole["target"]))
    out_of = _OUT_OF.match(text)
    if out_of is not None:
        return await _run_out(situation, out_of["rest"] or out_of["gone"])
    for pattern in (_DISCARD, _USED):
        gone = pattern.match(text)
        if gone is not None:
            parts = _targeted(gone["rest"])
            rest, target = parts[0] if len(parts) == 1 else (gone["rest"], INVENTORY)
            return await _taking_out(situation, rest, target)
    removed = _REMOVE.match(text)
    if removed is None:
        return None
    parts = _targeted(removed["rest"])
    if len(parts) == 1:
        return await _taking_out(situation, *parts[0])
    return None if parts else await _removing_somewhere(situation, removed["rest"])


def _targeted(text: str) -> list[tuple[str, Target]]:
    """Return things with where they go: `milk to the list and eggs in the fridge` is two."""
    parts: list[tuple[str, Target]] = []
    for clause in re.split(r"(?<=\w)\s*(?:,|\band\b)\s+(?=[^,]+?\s(?:to|in|into|on|onto)\s)", text):
        found = BEHIND.match(clause.strip())
        if found is None:
            # Not a clause of its own: it belongs to what the next target is said for.
            return _one_target(text)
        parts.append((found["items"], find_target(found["target"])))
    return parts


def _one_target(text: str) -> list[tuple[str, Target]]:
    found = BEHIND.match(text.strip())
    return [] if found is None else [(found["items"], find_target(found["target"]))]


def _things(text: str) -> tuple[Item, ...]:
    items = read_items(text)
    return () if any(_NO_THING.search(item.name) for item in items) else items


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
        items = () if dated is None else _things(dated[0])
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
    items = _things(text)
    if not items or re.search(r"\s(?:to|on|onto|into|for)\s", text):
        return None
    unknown = [item.name for item in items if not food_facts(item.name).is_food]
    if unknown and await situation.rows(
        table="recipes", columns=["id"], filters=[among("name", unknown)], limit=1
    ):
        return None
    return _adding(situation, [(text, SHOPPING)])


async def _bought(situation: Situation, text: str) -> Routed | None:
    """What was on the list is marked as bought; what was not goes straight into the house."""
    parts = _targeted(text)
    if parts:
        return _adding(situation, parts)
    items = _things(text)
    if not items:
        return None
    listed = await _listed(situation, items)
    steps = situation.steps
    if listed:
        what = f"Mark {names([item.name for item in listed])} as bought"
        filters = [among("name", [item.name for item in listed]), *SHOPPING.scope]
        steps.write(
            what, "shopping", op="update", table=SHOPPING.table, filters=filters,
            set={"status": "purchased"},
        )  # fmt: skip
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


async def _listed(situation: Situation, items: Sequence[Item]) -> list[Item]:
    found: list[Item] = []
    for item in items:
        filters = [same("name", item.name), *SHOPPING.scope]
        if await situation.rows(table=SHOPPING.table, columns=["id"], filters=filters, limit=1):
            found.append(item)
    return found


def _clearing(situation: Situation, target: Target) -> Routed:
    steps = situation.steps
    what = f"Take everything out of the {target.title}"
    steps.write(what, target.subdomain, op="delete", table=target.table, filters=target.everything)
    return Routed(steps=tuple(steps.made), goal=what)


async def _run_out(situation: Situation, text: str) -> Routed | None:
    """What there is no more of leaves the house and goes on the list."""
    items = _things(text)
    if not items:
        return None
    wanted = [item.name for item in items]
    steps = situation.steps
    filters = [among("ingredient.name", wanted)]
    if await situation.rows(table=INVENTORY.table, columns=["id"], filters=filters, limit=1):
        what = f"Take {names(wanted)} out of the inventory"
        steps.write(what, "inventory", op="delete", table=INVENTORY.table, filters=filters)
    what = f"Add {names(wanted)} to the shopping list"
    records = [{"name": name} for name in wanted]
    steps.write(what, "shopping", op="upsert", table=SHOPPING.table, records=records)
    return Routed(steps=tuple(steps.made), goal=what)


async def _taking_out(situation: Situation, text: str, target: Target) -> Routed | None:
    if target.table == "tasks":
        return _deleting(situation, target, [{**same("description", text.strip())}], text.strip())
    items = _things(text)
    if not items:
        return None
    if len(items) == 1 and items[0].quantity is not None and target.table == INVENTORY.table:
        reduced = await _reducing(situation, items[0], target)
        if reduced is not None:
            return reduced
    wanted = [item.name for item in items]
    return _deleting(situation, target, [among(target.name_field, wanted)], names(wanted))


async def _reducing(situation: Situation, item: Item, target: Target) -> Routed | None:
    """Take some of a thing, if it is clear of which row."""
    from callboard.packs.alfred.kitchen.compute.units import convert, rounded

    filters = [same(target.name_field, item.name), *target.scope]
    rows = await situation.rows(table=target.table, filters=filters)
    if len(rows) != 1 or rows[0]["quantity"] is None or item.quantity is None:
        return None
    used = convert(item.quantity, item.unit, rows[0]["unit"])
    left = None if used is None else rounded(float(rows[0]["quantity"]) - used)
    if left is None or left <= 0:
        return None
    steps = situation.steps
    what = f"Take {item.quantity:g} {item.unit or ''} {item.name} out of the {target.title}"
    row_id = str(rows[0]["id"])
    steps.write(
        " ".join(what.split()),
        target.subdomain,
        op="update",
        table=target.table,
        filters=[same("id", row_id)],
        set={"quantity": left},
        versions={row_id: rows[0]["version"]},
    )
    return Routed(steps=tuple(steps.made), goal=steps.made[0].description)


def _deleting(
    situation: Situation, target: Target, filters: list[dict[str, Any]], named: str
) -> Routed:
    steps = situation.steps
    what = f"Take {named} out of the {target.title}"
    steps.write(
        what, target.subdomain, op="delete", table=target.table, filters=[*filters, *target.scope]
    )
    return Routed(steps=tuple(steps.made), goal=what)


async def _removing_somewhere(situation: Situation, text: str) -> Routed | None:
    """Remove a thing from wherever it is; in two places, the user says which."""
    items = _things(text)
    if not items:
        return None
    wanted = [item.name for item in items]
    found = [
        target
        for target in (SHOPPING, INVENTORY)
        if await situation.rows(
            table=target.table,
            columns=["id"],
            filters=[among(target.name_field, wanted), *target.scope],
            limit=1,
        )
    ]
    if len(found) == 1:
        return await _taking_out(situation, text, found[0])
    if not found:
        return None
    asks = f"Remove {names(wanted)} from the shopping list or from the inventory?"
    return Routed(question=asks)
