"""Matching: which recipes fit what is there, for how many, and on which days."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final

from callboard.core.errors import InvalidInput
from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.compute.amounts import is_enough, kitchen_fraction, rounded
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
from callboard.packs.alfred.kitchen.food.checking import Eater, check_for


def scale_recipe(
    recipe: Row, servings: float | None = None, times: float | None = None
) -> dict[str, Any]:
    """Return a recipe for so many servings, or so many times; without either as it is written.

    What has no quantity has none afterwards. `shown` is the quantity as a measuring cup has it. It
    is for showing only.
    """
    wanted = times if times is not None else servings
    if wanted is not None and not wanted > 0:
        raise InvalidInput(
            f"A recipe cannot be made for {wanted:g} servings", fix="Name a number above 0."
        )
    if servings is not None and not is_scalable(recipe):
        raise InvalidInput(
            f"{recipe.get('name') or 'The recipe'} does not say for how many it is",
            fix="Set its servings first, or ask for it so many times: “double it”.",
        )
    own = recipe.get("servings")
    scale = times if times is not None else scale_of(recipe, servings)
    made = servings if servings is not None else None if own is None else float(own) * scale
    lines: list[dict[str, Any]] = []
    for line in ingredient_lines(recipe):
        quantity = line.get("quantity")
        exact = None if quantity is None else rounded(float(quantity) * scale)
        shown = "" if exact is None else kitchen_fraction(exact)
        lines.append({**line, "quantity": exact, "shown": shown})
    return {**recipe, "servings": made, "ingredients": lines, "scale": rounded(scale)}


SOON_DAYS: Final = 3
Match = dict[str, Any]


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """How recipes are matched."""

    today: date
    # The most ingredients a recipe may lack; None shows every recipe.
    max_missing: int | None = None
    soon_days: int = SOON_DAYS
    staples: frozenset[str] = field(default_factory=lambda: staple_keys(STAPLES))
    limit: int | None = None

    @property
    def soon(self) -> str:
        """The last day that still is soon."""
        return (self.today + timedelta(days=self.soon_days)).isoformat()


def match_recipes(
    recipes: Iterable[Row],
    inventory: Iterable[Row],
    eater: Eater,
    options: MatchOptions,
    catalogue: FoodCatalogue | None = None,
) -> dict[str, Any]:
    """Return the recipes somebody may eat, the one that lacks least first, and those they may not.

    Ties: more food used that expires soon, then better rated, then by name.
    """
    known = catalogue or FoodCatalogue()
    stock = Stock.of(inventory, known)
    matches: list[Match] = []
    blocked: list[dict[str, Any]] = []
    for recipe in recipes:
        objections = check_for(eater, tagged(recipe, known))
        if objections:
            why = list(dict.fromkeys(f"{each.kind}: {each.subject}" for each in objections))
            blocked.append({"id": recipe.get("id"), "name": recipe.get("name"), "blocked_by": why})
        elif ingredient_lines(recipe):
            # Nobody knows what a recipe needs that is only a link.
            matches.append(match_of(recipe, stock, options))
    return {"matches": best(matches, options), "blocked": blocked}


def best(matches: Iterable[Match], options: MatchOptions) -> list[Match]:
    """Return matches in their order, without those that lack too much."""
    most = options.max_missing
    kept = [each for each in matches if most is None or lack(each) <= most]
    return sorted(kept, key=match_order)[: options.limit]


def match_order(match: Match) -> tuple[Any, ...]:
    """Sort the best match to the front."""
    return order_key(
        lack(match), match["expiring_used"], match["rating"], match["name"], match["id"]
    )


def order_key(
    lacking: int, expiring_used: int, rating: int | None, name: str, recipe_id: Any
) -> tuple[Any, ...]:
    """Return what matches are sorted by."""
    return (lacking, -expiring_used, -(rating or 0), name_key(name), str(recipe_id))


def lack(match: Match) -> int:
    """Return how many ingredients are missing or too few."""
    return len(match["missing"]) + len(match["short"])


def match_of(recipe: Row, stock: Stock, options: MatchOptions) -> Match:
    """Return how one recipe stands."""
    missing: list[str] = []
    short: list[dict[str, Any]] = []
    unclear: list[str] = []
    required = 0
    lines = ingredient_lines(recipe)
    for line in lines:
        name = stock.catalogue.name(line)
        if line.get("optional") or stock.catalogue.name_key(line) in options.staples:
            continue
        required += 1
        found = stock.available(line)
        needed = line.get("quantity")
        if not found.is_there:
            missing.append(name)
        elif needed is None or is_enough(found.quantity, float(needed)):
            continue
        elif found.is_unclear:
            unclear.append(name)
        else:
            short.append(
                {
                    "name": name,
                    "needed": needed,
                    "have": rounded(found.quantity),
                    "unit": line.get("unit"),
                }
            )
    covered = required - len(missing) - len(short)
    return {
        "id": recipe.get("id"),
        "name": str(recipe.get("name") or ""),
        "rating": recipe.get("rating"),
        "total_minutes": recipe.get("total_minutes"),
        "coverage": rounded(covered / required) if required else 1.0,
        "missing": missing,
        "short": short,
        "unclear": unclear,
        "expiring_used": _expiring(lines, stock, options.soon),
    }


def tagged(recipe: Row, catalogue: FoodCatalogue) -> Row:
    """Return a recipe whose ingredients carry what the catalogue tags them with."""
    if not catalogue.by_id:
        return recipe
    lines = [
        {"allergen_tags": catalogue.facts(line).get("allergen_tags"), **line}
        for line in ingredient_lines(recipe)
    ]
    return {**recipe, "ingredients": lines}


def _expiring(lines: Sequence[Row], stock: Stock, soon: str) -> int:
    """Return how many ingredients are used of which something expires soon."""
    used = {key for line in lines if (key := stock.key(line)) is not None}
    return sum(1 for key in used if _expires(stock.by_key[key], soon))


def _expires(items: Sequence[Row], soon: str) -> bool:
    # The first to expire comes first.
    first = items[0].get("expires_on")
    return first is not None and str(first) <= soon


WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MOST_DAYS: Final = 62


def open_slots(
    first: date,
    last: date,
    meal_types: Sequence[str] = ("dinner",),
    existing: Iterable[Row] = (),
    cooking_days: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the meals nobody has planned yet, by day; without cooking days, every day counts."""
    if (last - first).days > _MOST_DAYS:
        raise InvalidInput(
            f"{first} to {last} are more than {_MOST_DAYS} days", fix="Plan in smaller parts."
        )
    taken = {
        (str(row.get("plan_date")), str(row.get("meal_type") or "dinner"))
        for row in existing
        if row.get("status") != "skipped"
    }
    slots: list[dict[str, str]] = []
    day = first
    while day <= last:
        name = WEEKDAYS[day.weekday()]
        if not cooking_days or name in cooking_days:
            for meal in meal_types:
                if (day.isoformat(), meal) not in taken:
                    slots.append({"date": day.isoformat(), "day": name, "meal_type": meal})
        day += timedelta(days=1)
    return {"slots": slots, "count": len(slots)}
