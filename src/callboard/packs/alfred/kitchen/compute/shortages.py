"""Shortages: what is missing for something, and what must be bought."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.compute.amounts import (
    convert,
    is_enough,
    rounded,
)
from callboard.packs.alfred.kitchen.compute.rows import (
    STAPLES,
    FoodCatalogue,
    Row,
    Stock,
    ingredient_lines,
    is_scalable,
    scale_of,
    staple_keys,
)
from callboard.packs.alfred.kitchen.food.foods import aisle_of, food_facts

Need = dict[str, Any]


def missing_ingredients(
    recipe: Row,
    inventory: Iterable[Row],
    servings: float | None = None,
    catalogue: FoodCatalogue | None = None,
    staples: Iterable[str] = STAPLES,
) -> dict[str, Any]:
    """Return what a recipe needs for so many servings, what there is, and what is to be bought.

    What every kitchen has is not to be bought. What cannot be compared is, and is marked.
    """
    needs = needs_of(recipe, servings, catalogue or FoodCatalogue(), include_optional=False)
    stock = Stock.of(inventory, catalogue)
    lines = [_against(need, stock, staple_keys(staples)) for need in needs]
    return {
        "lines": lines,
        "missing": [line for line in lines if line["is_missing"]],
        "servings": servings if is_scalable(recipe) and servings else recipe.get("servings"),
    }


def needs_of(
    recipe: Row, servings: float | None, catalogue: FoodCatalogue, *, include_optional: bool
) -> list[Need]:
    """Return the amounts a recipe needs; lines that can be counted together are one."""
    scale = scale_of(recipe, servings)
    needs: list[Need] = []
    for line in ingredient_lines(recipe):
        if line.get("optional") and not include_optional:
            continue
        quantity = line.get("quantity")
        need: Need = {
            "name": catalogue.name(line),
            "ingredient_id": line.get("ingredient_id"),
            "quantity": None if quantity is None else float(quantity) * scale,
            "unit": line.get("unit"),
            "g_per_ml": catalogue.density(line),
            "category": line.get("category") or catalogue.facts(line).get("category"),
            "recipes": [str(recipe["name"])] if recipe.get("name") else [],
        }
        add_need(needs, need)
    return needs


def add_need(needs: list[Need], need: Need) -> None:
    """Add an amount to the one it can be counted with, or put it beside the others."""
    for known in needs:
        if not same_food(known, need):
            continue
        more = _converted(need, known)
        if more is None:
            continue
        known["quantity"] = known["quantity"] + more if known["quantity"] is not None else None
        known["recipes"] = list(dict.fromkeys([*known["recipes"], *need["recipes"]]))
        return
    needs.append(dict(need))


def same_food(one: Row, other: Row) -> bool:
    """Say whether two rows are about the same ingredient."""
    if one.get("ingredient_id") and other.get("ingredient_id"):
        return bool(one["ingredient_id"] == other["ingredient_id"])
    return name_key(str(one.get("name") or "")) == name_key(str(other.get("name") or ""))


def _converted(need: Need, known: Need) -> float | None:
    if need["quantity"] is None or known["quantity"] is None:
        # Some and some is some.
        return 0.0 if need["quantity"] is None and known["quantity"] is None else None
    return convert(need["quantity"], need["unit"], known["unit"], known.get("g_per_ml"))


def _against(need: Need, stock: Stock, staples: frozenset[str]) -> dict[str, Any]:
    found = stock.available(need)
    needed = need["quantity"]
    is_short = needed is not None and not is_enough(found.quantity, needed)
    is_staple = name_key(need["name"]) in staples
    is_missing = not is_staple and (not found.is_there or is_short)
    mismatch = found.is_there and found.is_unclear and is_short
    to_buy = None if needed is None else max(needed - found.quantity, 0.0)
    return {
        "name": need["name"],
        "ingredient_id": need["ingredient_id"],
        "category": need["category"],
        "needed": None if needed is None else rounded(needed),
        "have": rounded(found.quantity) if found.is_there else 0.0,
        "to_buy": None if to_buy is None else rounded(to_buy if is_missing else 0.0),
        "unit": need["unit"],
        "unit_mismatch": mismatch,
        "is_missing": is_missing,
    }


_OPEN: Final = ("needed", "in_cart")
_EVERYTHING: Final = "everything"


def aggregate_shopping(
    meals: Sequence[Row],
    inventory: Iterable[Row],
    existing: Iterable[Row] = (),
    catalogue: FoodCatalogue | None = None,
    staples: Iterable[str] = STAPLES,
) -> dict[str, Any]:
    """Return what is to be bought for many meals, less what there is and what is already listed.

    A meal is a recipe, or a planned meal with its `recipe` and `servings`.
    """
    known = catalogue or FoodCatalogue()
    needs: list[Need] = []
    unscaled: list[str] = []
    for meal in meals:
        recipe, servings = _recipe_of(meal)
        if servings and not is_scalable(recipe):
            unscaled.append(str(recipe.get("name") or ""))
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
    return {"items": items, "count": len(items), "as_written": [{"name": n} for n in unscaled]}


def group_shopping(
    items: Iterable[Row], organization: str, catalogue: FoodCatalogue | None = None
) -> dict[str, Any]:
    """Return a list in groups: by aisle, by category, or as one."""
    known = catalogue or FoodCatalogue()
    groups: dict[str, list[dict[str, Any]]] = {}
    for item in items:
        groups.setdefault(_group(item, organization, known), []).append(dict(item))
    ordered = dict(sorted(groups.items()))
    for group in ordered.values():
        group.sort(key=lambda item: name_key(known.name(item)))
    return {"organization": organization, "groups": ordered}


def _group(item: Row, organization: str, catalogue: FoodCatalogue) -> str:
    if organization not in ("by_aisle", "by_category"):
        return _EVERYTHING
    facts = catalogue.facts(item)
    category = item.get("category") or facts.get("category") or _guessed(item, catalogue)
    if organization == "by_category":
        return str(category)
    return str(facts.get("aisle") or aisle_of(str(category)))


def _guessed(item: Row, catalogue: FoodCatalogue) -> str:
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
