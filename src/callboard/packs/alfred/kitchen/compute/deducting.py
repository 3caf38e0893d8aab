"""Deducting: what a meal takes from stock: the first to expire first, never more than is there."""

from collections.abc import Iterable
from typing import Any

from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.compute.amounts import spoken_amount
from callboard.packs.alfred.kitchen.compute.rows import (
    STAPLES,
    Catalogue,
    Row,
    Stock,
    ingredient_lines,
    scale_of,
    staple_keys,
)
from callboard.packs.alfred.kitchen.compute.units import TOLERANCE, convert, rounded


def deduct_inventory(
    recipe: Row,
    servings: float | None,
    inventory: Iterable[Row],
    catalogue: Catalogue | None = None,
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
