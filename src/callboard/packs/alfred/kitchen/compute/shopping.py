"""Shopping: one list for many meals, without what is there, and in the order of the shop."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.compute.rows import STAPLES, Catalogue, Row, Stock, staple_keys
from callboard.packs.alfred.kitchen.compute.shortages import Need, add_need, needs_of
from callboard.packs.alfred.kitchen.compute.units import is_enough, rounded
from callboard.packs.alfred.kitchen.lexicon.foods import aisle_of, food_facts

_OPEN: Final = ("needed", "in_cart")
_EVERYTHING: Final = "everything"


def aggregate_shopping(
    meals: Sequence[Row],
    inventory: Iterable[Row],
    existing: Iterable[Row] = (),
    catalogue: Catalogue | None = None,
    staples: Iterable[str] = STAPLES,
) -> dict[str, Any]:
    """Return what is to be bought for many meals, less what there is and what is already listed.

    A meal is a recipe, or a planned meal with its `recipe` and `servings`.
    """
    known = catalogue or Catalogue()
    needs: list[Need] = []
    for meal in meals:
        recipe, servings = _recipe_of(meal)
        for need in needs_of(recipe, servings, known, include_optional=False):
            add_need(needs, need)
    stock = Stock.of(inventory, known)
    listed = Stock.of((row for row in existing if row.get("status", "needed") in _OPEN), known)
    left_out = staple_keys(staples)
    items = [
        item
        for need in needs
        if name_key(need["name"]) not in left_out and (item := _to_buy(need, stock, listed))
    ]
    return {"items": items, "count": len(items)}


def group_shopping(
    items: Iterable[Row], organization: str, catalogue: Catalogue | None = None
) -> dict[str, Any]:
    """Return a list in groups: by aisle, by category, or as one."""
    known = catalogue or Catalogue()
    groups: dict[str, list[dict[str, Any]]] = {}
    for item in items:
        groups.setdefault(_group(item, organization, known), []).append(dict(item))
    ordered = dict(sorted(groups.items()))
    for group in ordered.values():
        group.sort(key=lambda item: name_key(known.name(item)))
    return {"organization": organization, "groups": ordered}


def _group(item: Row, organization: str, catalogue: Catalogue) -> str:
    if organization not in ("by_aisle", "by_category"):
        return _EVERYTHING
    facts = catalogue.facts(item)
    category = item.get("category") or facts.get("category") or _guessed(item, catalogue)
    if organization == "by_category":
        return str(category)
    return str(facts.get("aisle") or aisle_of(str(category)))


def _guessed(item: Row, catalogue: Catalogue) -> str:
    return food_facts(catalogue.name(item)).category


def _recipe_of(meal: Row) -> tuple[Row, float | None]:
    inner: Any = meal.get("recipe")
    if isinstance(inner, Mapping):
        return cast("Row", inner), meal.get("servings")
    return meal, meal.get("wanted_servings")


def _to_buy(need: Need, stock: Stock, listed: Stock) -> dict[str, Any] | None:
    """Return what is left to buy of a need, or None if nothing is."""
    have, on_list = stock.available(need), listed.available(need)
    needed = need["quantity"]
    if needed is None:
        if have.is_there or on_list.is_there:
            return None
        return _item(need, None, mismatch=False)
    if is_enough(have.quantity + on_list.quantity, needed):
        return None
    if on_list.is_there and on_list.is_unclear and _is_listed_without_amount(need, listed):
        return None
    mismatch = (have.is_there and have.is_unclear) or (on_list.is_there and on_list.is_unclear)
    return _item(need, rounded(needed - have.quantity - on_list.quantity), mismatch=mismatch)


def _is_listed_without_amount(need: Need, listed: Stock) -> bool:
    """Say whether the list already says just `milk`: then it is bought anyway."""
    return any(item.get("quantity") is None for item in listed.items(need))


def _item(need: Need, quantity: float | None, *, mismatch: bool) -> dict[str, Any]:
    category = need["category"] or food_facts(need["name"]).category
    return {
        "name": need["name"],
        "ingredient_id": need["ingredient_id"],
        "quantity": quantity,
        "unit": need["unit"],
        "category": category,
        "unit_mismatch": mismatch,
        "recipes": need["recipes"],
    }
