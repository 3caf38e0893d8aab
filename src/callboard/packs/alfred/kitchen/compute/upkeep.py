"""Upkeep: what expires soon, and what runs low."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from callboard.packs.alfred.kitchen.compute.matching import SOON_DAYS
from callboard.packs.alfred.kitchen.compute.rows import Catalogue, Row, expiry_order
from callboard.packs.alfred.kitchen.compute.units import rounded


def expiring_soon(
    inventory: Iterable[Row],
    today: date,
    days: int = SOON_DAYS,
    catalogue: Catalogue | None = None,
) -> dict[str, Any]:
    """Return what expires within some days, the first first; what has expired is marked."""
    known = catalogue or Catalogue()
    until = (today + timedelta(days=days)).isoformat()
    items: list[dict[str, Any]] = []
    for row in sorted(inventory, key=expiry_order):
        expires = row.get("expires_on")
        if expires is None or str(expires) > until or row.get("quantity") == 0:
            continue
        left = (date.fromisoformat(str(expires)) - today).days
        items.append({**_item(row, known), "days_left": left, "is_expired": left < 0})
    return {"items": items, "count": len(items), "until": until}


def low_stock(inventory: Iterable[Row], catalogue: Catalogue | None = None) -> dict[str, Any]:
    """Return what is at or below the amount somebody wants to be told about."""
    known = catalogue or Catalogue()
    items: list[dict[str, Any]] = []
    for row in inventory:
        least, have = row.get("low_threshold"), row.get("quantity")
        if least is None or have is None or have > least:
            continue
        items.append({**_item(row, known), "low_threshold": least, "is_out": have == 0})
    items.sort(key=lambda item: str(item["name"]))
    return {"items": items, "count": len(items)}


def _item(row: Row, catalogue: Catalogue) -> dict[str, Any]:
    quantity = row.get("quantity")
    return {
        "id": row.get("id"),
        "name": catalogue.name(row),
        "quantity": None if quantity is None else rounded(float(quantity)),
        "unit": row.get("unit"),
        "location": row.get("location"),
        "expires_on": row.get("expires_on"),
    }
