"""Shortages: what a recipe or a plan needs, what there is of it, and what is to be bought."""

from collections.abc import Iterable
from typing import Any

from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.compute.rows import (
    STAPLES,
    Catalogue,
    Row,
    Stock,
    ingredient_lines,
    scale_of,
    staple_keys,
)
from callboard.packs.alfred.kitchen.compute.units import convert, is_enough, rounded

Need = dict[str, Any]


def missing_ingredients(
    recipe: Row,
    inventory: Iterable[Row],
    servings: float | None = None,
    catalogue: Catalogue | None = None,
    staples: Iterable[str] = STAPLES,
) -> dict[str, Any]:
    """Return what a recipe needs for so many servings, what there is, and what is to be bought.

    What every kitchen has is not to be bought. What cannot be compared is, and is marked.
    """
    needs = needs_of(recipe, servings, catalogue or Catalogue(), include_optional=False)
    stock = Stock.of(inventory, catalogue)
    lines = [_against(need, stock, staple_keys(staples)) for need in needs]
    return {
        "lines": lines,
        "missing": [line for line in lines if line["is_missing"]],
        "servings": servings or recipe.get("servings"),
    }


def needs_of(
    recipe: Row, servings: float | None, catalogue: Catalogue, *, include_optional: bool
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
