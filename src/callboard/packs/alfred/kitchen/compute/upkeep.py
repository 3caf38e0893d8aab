"""Upkeep: what was cooked, what expires or runs low, and what cooking takes from the stock."""

from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any, Final

from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.compute.amounts import (
    TOLERANCE,
    convert,
    rounded,
    spoken_amount,
)
from callboard.packs.alfred.kitchen.compute.matching import SOON_DAYS
from callboard.packs.alfred.kitchen.compute.rows import (
    STAPLES,
    FoodCatalogue,
    Row,
    Stock,
    expiry_order,
    ingredient_lines,
    scale_of,
    staple_keys,
)

_SHOWN: Final = 10


_NONE: Final = "other"


def cooking_stats(
    log: Iterable[Row], first: date | None = None, last: date | None = None
) -> dict[str, Any]:
    """Return how often was cooked between two days, what most, and how it was rated."""
    rows = [row for row in log if _is_between(str(row.get("cooked_at") or ""), first, last)]
    names: dict[str, str] = {}
    times: Counter[str] = Counter()
    for row in sorted(rows, key=lambda row: str(row.get("cooked_at"))):
        key = name_key(str(row.get("recipe_name") or ""))
        names[key] = str(row.get("recipe_name") or "")
        times[key] += 1
    ratings = [int(row["rating"]) for row in rows if row.get("rating") is not None]
    minutes = [int(row["minutes"]) for row in rows if row.get("minutes") is not None]
    most = sorted(times.items(), key=lambda each: (-each[1], each[0]))[:_SHOWN]
    return {
        "count": len(rows),
        "recipes": len(times),
        "most_cooked": [{"name": names[key], "count": count} for key, count in most],
        "average_rating": round(sum(ratings) / len(ratings), 2) if ratings else None,
        "average_minutes": round(sum(minutes) / len(minutes)) if minutes else None,
        "last_cooked_at": max((str(row["cooked_at"]) for row in rows), default=None),
    }


def category_counts(rows: Iterable[Row], catalogue: FoodCatalogue | None = None) -> dict[str, Any]:
    """Return how many rows there are of each category."""
    known = catalogue or FoodCatalogue()
    counted = Counter(
        str(row.get("category") or known.facts(row).get("category") or _NONE) for row in rows
    )
    return {"counts": dict(sorted(counted.items())), "count": sum(counted.values())}


def _is_between(moment: str, first: date | None, last: date | None) -> bool:
    day = moment[:10]
    after = first is None or day >= first.isoformat()
    return after and (last is None or day <= last.isoformat())


def expiring_soon(
    inventory: Iterable[Row],
    today: date,
    days: int = SOON_DAYS,
    catalogue: FoodCatalogue | None = None,
) -> dict[str, Any]:
    """Return what expires within some days, the first first; what has expired is marked."""
    known = catalogue or FoodCatalogue()
    until = (today + timedelta(days=days)).isoformat()
    items: list[dict[str, Any]] = []
    for row in sorted(inventory, key=expiry_order):
        expires = row.get("expires_on")
        if expires is None or str(expires) > until or row.get("quantity") == 0:
            continue
        left = (date.fromisoformat(str(expires)) - today).days
        items.append({**_item(row, known), "days_left": left, "is_expired": left < 0})
    return {"items": items, "count": len(items), "until": until}


def low_stock(inventory: Iterable[Row], catalogue: FoodCatalogue | None = None) -> dict[str, Any]:
    """Return what is at or below the amount somebody wants to be told about."""
    known = catalogue or FoodCatalogue()
    items: list[dict[str, Any]] = []
    for row in inventory:
        least, have = row.get("low_threshold"), row.get("quantity")
        if least is None or have is None or have > least:
            continue
        items.append({**_item(row, known), "low_threshold": least, "is_out": have == 0})
    items.sort(key=lambda item: str(item["name"]))
    return {"items": items, "count": len(items)}


def _item(row: Row, catalogue: FoodCatalogue) -> dict[str, Any]:
    quantity = row.get("quantity")
    return {
        "id": row.get("id"),
        "name": catalogue.name(row),
        "quantity": None if quantity is None else rounded(float(quantity)),
        "unit": row.get("unit"),
        "location": row.get("location"),
        "expires_on": row.get("expires_on"),
    }


def deduct_inventory(
    recipe: Row,
    servings: float | None,
    inventory: Iterable[Row],
    catalogue: FoodCatalogue | None = None,
    staples: Iterable[str] = STAPLES,
) -> dict[str, Any]:
    """Return what each row of stock has left after a recipe, what fell short, and what to say.

    Lines without a quantity and optional ones take nothing.
    """
    stock = Stock.of(inventory, catalogue)
    session = _Taking(stock, staple_keys(staples))
    scale = scale_of(recipe, servings)
    for line in ingredient_lines(recipe):
        if line.get("quantity") is not None and not line.get("optional"):
            session.take(line, float(line["quantity"]) * scale)
    return {
        "taken": list(session.taken.values()),
        "shortfalls": session.shortfalls,
        "unclear": session.unclear,
        "notes": session.notes(),
    }


class _Taking:
    """One meal's way through the stock."""

    def __init__(self, stock: Stock, staples: frozenset[str]) -> None:
        self.stock = stock
        self.staples = staples
        self.taken: dict[str, dict[str, Any]] = {}
        self.shortfalls: list[dict[str, Any]] = []
        self.unclear: list[str] = []

    def take(self, line: Row, needed: float) -> None:
        """Take a line's quantity, from as many rows as it needs."""
        catalogue = self.stock.catalogue
        name, unit, density = catalogue.name(line), line.get("unit"), catalogue.density(line)
        left, is_clear = needed, True
        for item in self.stock.items(line):
            if left <= TOLERANCE:
                break
            have = self._have(item)
            in_unit = None if have is None else convert(have, item.get("unit"), unit, density)
            if have is None or in_unit is None:
                is_clear = False
                continue
            used = min(left, in_unit)
            left -= used
            after = have * (1 - used / in_unit) if in_unit > TOLERANCE else 0.0
            self._put(item, name, after)
        if left > TOLERANCE and not is_clear:
            self.unclear.append(name)
        elif left > TOLERANCE and name_key(name) not in self.staples:
            self.shortfalls.append({"name": name, "quantity": rounded(left), "unit": unit})

    def notes(self) -> list[str]:
        """Return what to tell the cook."""
        said = [
            f"{each['name']}: {spoken_amount(each['before'], each['unit'])} → "
            f"{spoken_amount(each['after'], each['unit'])}."
            for each in self.taken.values()
        ]
        said += [
            f"Stock held {spoken_amount(each['quantity'], each['unit'])} too little {each['name']}."
            for each in self.shortfalls
        ]
        if self.unclear:
            listed = ", ".join(dict.fromkeys(self.unclear))
            said.append(f"Not taken from stock, the amounts cannot be compared: {listed}.")
        return said

    def _have(self, item: Row) -> float | None:
        taken = self.taken.get(str(item.get("id")))
        return item.get("quantity") if taken is None else taken["after"]

    def _put(self, item: Row, name: str, after: float) -> None:
        key = str(item.get("id"))
        before = self.taken.get(key, {}).get("before", item.get("quantity"))
        left = max(rounded(after), 0.0)
        self.taken[key] = {
            "id": key,
            "name": name,
            "before": before,
            "after": left,
            "unit": item.get("unit"),
        }
