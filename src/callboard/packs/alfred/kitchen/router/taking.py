"""Taking out: what was used, thrown away or crossed out leaves the house or the list.

An amount takes only that much. Where nobody can reckon how much is left, nothing is taken and the
user is told how to say it.
"""

import re
from typing import Any, Final

from callboard.choreography.turn.domain import Routed, Row
from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.compute.amounts import (
    TOLERANCE,
    convert,
    rounded,
    spoken_amount,
)
from callboard.packs.alfred.kitchen.compute.rows import FoodCatalogue, expiry_order
from callboard.packs.alfred.kitchen.router.situation import (
    INTO,
    INVENTORY,
    SHOPPING,
    WHOLE,
    Situation,
    Steps,
    StockTarget,
    among,
    find_target,
    names,
    same,
    targeted,
)
from callboard.packs.alfred.kitchen.router.words import Item, forms, read_things, split_items

_FORMS: Final = forms("taking")

_FACTS: Final = FoodCatalogue()
# To throw a thing into a place is to put it there.
_PUTTING: Final = frozenset({"throw", "toss", "chuck"})


async def route_taking(situation: Situation) -> Routed | None:
    """Route what is to be taken off the list or out of the house."""
    text = situation.text
    cleared = _FORMS["clear"].match(text)
    if cleared is not None:
        whole = WHOLE.match(cleared["target"] or cleared["other"])
        return None if whole is None else _clearing(situation, find_target(whole["target"]))
    out_of = _FORMS["out_of"].match(text)
    if out_of is not None:
        return await _run_out(situation, out_of["rest"] or out_of["gone"])
    used = _used(text)
    if used is not None:
        plain, kept = _without_vague(_FORMS["last"].sub("", used))
        if kept and not plain:
            return Routed(reply=f"Noted nothing: how much is left of {names(kept)}? {_SET}")
        return await _taking(situation, targeted(plain) or [(plain, INVENTORY)])
    gone = _FORMS["gone"].match(text)
    if gone is not None:
        return await _gone(situation, gone["rest"])
    removed = _FORMS["remove"].match(text)
    if removed is None:
        return None
    parts = targeted(removed["rest"])
    if parts:
        return await _taking(situation, parts)
    off = _FORMS["crossed_off"].match(removed["rest"])
    if off is not None:
        return await _taking(situation, [(off["rest"], SHOPPING)])
    return await _removing_somewhere(situation, removed["rest"])


_SET: Final = "Say for example “set milk to 500 ml”, or “we're out of milk”."
_SOME: Final = re.compile(
    r"^(?:some|a (?:bit|little|few|splash|pinch|dash|drop|touch)(?: of)?)\s+", re.I
)


def _without_vague(text: str) -> tuple[str, list[str]]:
    """Return what was used by amount or as a whole, and what some is left of."""
    parts = split_items(text)
    kept = [part for part in parts if _SOME.match(part)]
    if not kept:
        return text, []
    rest = [part for part in parts if part not in kept]
    return ", ".join(rest), [_SOME.sub("", part) for part in kept]


def _used(text: str) -> str | None:
    """Return what was used or thrown away, if that is what a text says."""
    thrown = _FORMS["discard"].match(text)
    if thrown is not None:
        is_away = bool(thrown["gone"] or thrown["after"])
        is_put = thrown["verb"].casefold() in _PUTTING and INTO.search(thrown["rest"]) is not None
        return None if is_put and not is_away else thrown["rest"]
    found = _FORMS["used"].match(text)
    return None if found is None else found["rest"]


async def _taking(situation: Situation, parts: list[tuple[str, StockTarget]]) -> Routed | None:
    steps = situation.steps
    for text, target in parts:
        if target.table == "tasks":
            _delete(steps, target, [same("description", text.strip())], text.strip())
            continue
        items = read_things(text)
        if not items:
            return None
        refused = await _take(steps, situation, items, target)
        if refused:
            return Routed(reply=refused)
    return steps.done()


async def _take(
    steps: Steps, situation: Situation, items: tuple[Item, ...], target: StockTarget
) -> str:
    """Add what takes some things out; return why that cannot be done, if so."""
    whole: list[str] = []
    for item in items:
        rows = await _rows(situation, item, target) if item.quantity is not None else ()
        if not rows:
            whole.append(item.name)
            continue
        reckoned = _reckon(item, rows)
        if reckoned is None:
            return _unclear(item, rows, target)
        for row, left in reckoned:
            _reduce(steps, target, item, row, left)
    if whole:
        _delete(steps, target, [among(target.name_field, whole)], names(whole))
    return ""


async def _rows(situation: Situation, item: Item, target: StockTarget) -> list[Row]:
    filters = [same(target.name_field, item.name), *target.scope]
    rows = await situation.rows(table=target.table, filters=filters, include=["ingredient"])
    return sorted(rows, key=expiry_order)


def _reckon(item: Item, rows: list[Row]) -> list[tuple[Row, float]] | None:
    """Return what is left of which row, the first to expire first; None if nobody can say."""
    if item.share is not None:
        whole = [row["quantity"] for row in rows]
        if len(rows) != 1 or whole[0] is None:
            return None
        return [(rows[0], rounded(float(whole[0]) * (1 - item.share)))]
    taken: list[tuple[Row, float]] = []
    rest = item.quantity or 0.0
    for row in rows:
        density = _FACTS.density(row)
        wanted = convert(rest, item.unit, row["unit"], density)
        if row["quantity"] is None or wanted is None:
            return None
        left = max(rounded(float(row["quantity"]) - wanted), 0.0)
        taken.append((row, left))
        # What was there of it, in the unit it was said in.
        used = convert(float(row["quantity"]) - left, row["unit"], item.unit, density)
        rest -= used or 0.0
        if rest <= TOLERANCE:
            break
    return taken


def _unclear(item: Item, rows: list[Row], target: StockTarget) -> str:
    there = " and ".join(spoken_amount(row["quantity"], row["unit"]) for row in rows)
    said = _said(item)
    return (
        f"I cannot tell what is left of {item.name}: there is {there}, and you said {said}. "
        f"Say for example “set {item.name} to …”, or “remove {item.name} from the {target.title}”."
    )


def _said(item: Item) -> str:
    if item.share is not None:
        return f"{round(item.share * 100)} % of the"
    return spoken_amount(item.quantity, item.unit)


def _reduce(steps: Steps, target: StockTarget, item: Item, row: Row, left: float) -> None:
    row_id = str(row["id"])
    details: dict[str, Any] = {
        "table": target.table,
        "filters": [same("id", row_id)],
        "versions": {row_id: row["version"]},
    }
    if left:
        details |= {"op": "update", "set": {"quantity": left}}
    else:
        details["op"] = "delete"
    said = _said(item)
    steps.write(f"Take {said} {item.name} out of the {target.title}", **details)


def _delete(steps: Steps, target: StockTarget, filters: list[dict[str, Any]], named: str) -> None:
    what = f"Take {named} out of the {target.title}"
    steps.write(what, op="delete", table=target.table, filters=[*filters, *target.scope])


def _clearing(situation: Situation, target: StockTarget) -> Routed:
    steps = situation.steps
    what = f"Take everything out of the {target.title}"
    steps.write(what, op="delete", table=target.table, filters=target.everything)
    return steps.done(what)


async def _run_out(situation: Situation, text: str) -> Routed | None:
    """What there is no more of leaves the house and goes on the list."""
    items = read_things(text)
    if not items:
        return None
    wanted = [item.name for item in items]
    steps = situation.steps
    filters = [among("ingredient.name", wanted)]
    if await situation.rows(table=INVENTORY.table, columns=["id"], filters=filters, limit=1):
        what = f"Take {names(wanted)} out of the inventory"
        steps.write(what, op="delete", table=INVENTORY.table, filters=filters)
    listed = await situation.rows(
        table=SHOPPING.table, columns=["name"], filters=[among("name", wanted), *SHOPPING.scope]
    )
    there = {name_key(str(row["name"])) for row in listed}
    missing = [name for name in wanted if name_key(name) not in there]
    if not missing:
        told = f"{names(wanted)} {'is' if len(wanted) == 1 else 'are'} on the shopping list already"
        return steps.done(assumptions=(told,)) if steps.made else Routed(reply=f"{told}.")
    what = f"Add {names(missing)} to the shopping list"
    records = [{"name": name} for name in missing]
    # Where so much is taken out that it is asked about, nothing is noted before the answer.
    steps.write(what, len(steps.made), op="upsert", table=SHOPPING.table, records=records)
    return steps.done(what)


async def _gone(situation: Situation, text: str) -> Routed | None:
    """Take out what is gone, if it was there: much else is said to be finished."""
    items = read_things(text)
    if not items or not await _is_in(situation, INVENTORY, [item.name for item in items]):
        return None
    return await _taking(situation, [(text, INVENTORY)])


async def _removing_somewhere(situation: Situation, text: str) -> Routed | None:
    """Remove a thing from wherever it is; in two places, the user says which."""
    items = read_things(text)
    if not items:
        return None
    wanted = [item.name for item in items]
    found = [each for each in (SHOPPING, INVENTORY) if await _is_in(situation, each, wanted)]
    if len(found) == 1:
        return await _taking(situation, [(text, found[0])])
    if not found:
        return None
    asks = f"Remove {names(wanted)} from the shopping list or from the inventory?"
    return Routed(question=asks)


async def _is_in(situation: Situation, target: StockTarget, wanted: list[str]) -> bool:
    filters = [among(target.name_field, wanted), *target.scope]
    rows = await situation.rows(table=target.table, columns=["id"], filters=filters, limit=1)
    return bool(rows)
