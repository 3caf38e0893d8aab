"""A shopping list as text to print or send: by aisle, by category, or as it is."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from callboard.packs.alfred.kitchen.compute.amounts import unit_word
from callboard.packs.alfred.kitchen.lexicon.foods import category_words
from callboard.packs.alfred.kitchen.recipes.text import one_line
from callboard.packs.alfred.kitchen.recipes.writing.fractions import kitchen_amount

_ORGANIZATIONS: Final = ("by_aisle", "by_category", "unorganized")
_DONE: Final = frozenset(["in_cart", "purchased"])


def write_shopping(items: Iterable[Mapping[str, Any]], organization: str = "by_category") -> str:
    """Return rows of a shopping list as text, grouped as the household likes it."""
    rows = [item for item in items if one_line(str(item.get("name") or ""))]
    if organization not in _ORGANIZATIONS:
        organization = "by_category"
    if organization == "unorganized":
        return "".join(f"{_entry(row)}\n" for row in rows)
    key = "aisle" if organization == "by_aisle" else "category"
    groups: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: str(row["name"]).casefold()):
        title = one_line(str(row.get(key) or row.get("category") or "other"))
        groups.setdefault(title, []).append(_entry(row))
    ordered = sorted(groups, key=lambda title: (title.casefold() == "other", title.casefold()))
    return "\n".join(f"{_title(title)}\n" + "\n".join(groups[title]) + "\n" for title in ordered)


def _entry(row: Mapping[str, Any]) -> str:
    given = row.get("quantity")
    quantity = float(given) if isinstance(given, (int, float)) and given > 0 else None
    unit = one_line(str(row.get("unit") or "")) or None
    if unit is not None and quantity is not None:
        unit = unit_word(quantity, unit)
    amount = kitchen_amount(quantity, unit)
    mark = "x" if row.get("status") in _DONE else " "
    return f"[{mark}] {amount} {one_line(str(row['name']))}".replace("  ", " ")


def _title(title: str) -> str:
    return category_words(title).capitalize()
