"""What can I make? 50,000 recipes of eight ingredients each, 5,000 or just 60 things in stock.

Asked of a kitchen in a file, in a warm process, for somebody without limits and for a vegetarian
with a nut allergy: the twenty best recipes with what each lacks. The best of several rounds counts.
"""

import random
import time
from collections.abc import Iterator
from datetime import date
from typing import Any

from callboard.packs.alfred.kitchen.food.words import allergens_in

from bench.report import Measured, Result
from bench.workspace import fresh_folder
from callboard.library.relational.base import Base
from callboard.packs.alfred.kitchen.compute.matching import MatchOptions
from callboard.packs.alfred.kitchen.cookable import match_in_database
from callboard.packs.alfred.kitchen.food.checking import Eater
from callboard.packs.alfred.kitchen.opening import add_person, open_kitchen
from callboard.packs.alfred.kitchen.schema.recipes import (
    ingredients,
    recipe_ingredients,
    recipes,
)
from callboard.packs.alfred.kitchen.schema.tables import inventory_items

ROUNDS = 5
SMALL_STOCK = 60
MOST_MS = 300.0
NOW = "2026-05-20T08:30:00.000000Z"
TIMES = {"created_at": NOW, "updated_at": NOW}
FOODS = ("flour", "milk", "almond", "beef", "tomato", "rice", "egg", "onion", "carrot", "lentil")
KINDS = ("red", "white", "brown", "wild", "young", "dried", "smoked", "sweet", "baby", "giant")
PLACES = ("garden", "river", "valley", "mountain", "island", "forest", "coast", "meadow", "farm")
UNITS = ("g", "ml", None)


def measure(*, quick: bool) -> Measured:
    """Fill a kitchen and ask it."""
    count = 5_000 if quick else 50_000
    stocks = {"": count // 10, "of 60 things, ": SMALL_STOCK}
    lines = [line for words, stocked in stocks.items() for line in _with(count, stocked, words)]
    return Measured(tuple(lines))


def _with(count: int, stocked: int, words: str) -> list[Result]:
    with fresh_folder() as folder:
        base = open_kitchen(f"sqlite:///{folder / 'kitchen.db'}")
        try:
            _fill(base, count, stocked)
            eaters = {
                "anybody": Eater(),
                "a vegetarian with a nut allergy": Eater(("nuts",), ("vegetarian",)),
            }
            return [_ask(base, count, f"{words}for {who}", eater) for who, eater in eaters.items()]
        finally:
            base.close()


def _ask(base: Base, count: int, who: str, eater: Eater) -> Result:
    options = MatchOptions(date(2026, 5, 20))
    took: list[float] = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        found = base.read_now(lambda c: match_in_database(c, "cook", eater, options))
        took.append((time.perf_counter() - started) * 1000)
        assert len(found) == 20
    name = f"what can I make, {count:,} recipes, {who} (ms)"
    return Result(name, min(took), None, "", None, f"at most {MOST_MS:g} ms", min(took) <= MOST_MS)


def _fill(base: Base, count: int, stocked: int) -> None:
    base.write_now(lambda c: add_person(c, "cook", "Cook", NOW))
    chance = random.Random(3)
    names = [f"{kind} {place} {food}" for place in PLACES for kind in KINDS for food in FOODS]
    ids = [f"ing_{number:05d}" for number in range(len(names))]
    unit_of = {key: UNITS[number % len(UNITS)] for number, key in enumerate(ids)}

    def pick() -> str:
        # A few ingredients are in most recipes and most in few, as in any book.
        return ids[int(chance.random() ** 2 * len(ids))]

    catalogue = [
        {"id": key, "name": name, "name_key": name, "allergen_tags": sorted(allergens_in(name))}
        for key, name in zip(ids, names, strict=True)
    ]
    made = [f"rec_{chance.getrandbits(64):016x}" for _ in range(count)]
    rows: dict[Any, Iterator[dict[str, Any]]] = {
        ingredients: ({**each, **TIMES} for each in catalogue),
        recipes: (
            {
                "id": key,
                "name": f"Recipe {number}",
                "name_key": f"recipe {number}",
                "rating": chance.choice([None, 1, 2, 3, 4, 5]),
                "servings": 4,
                "user_id": "cook",
                **TIMES,
            }
            for number, key in enumerate(made)
        ),
        recipe_ingredients: (
            {
                "id": f"{key}-{position}",
                "recipe_id": key,
                "user_id": "cook",
                "ingredient_id": (ingredient := pick()),
                "position": position,
                "quantity": chance.randint(1, 200),
                "unit": unit_of[ingredient],
                "optional": chance.random() < 0.1,
                "raw_text": f"some {ingredient}",
            }
            for key in made
            for position in range(8)
        ),
        inventory_items: (
            {
                "id": f"inv_{number}",
                "user_id": "cook",
                "ingredient_id": (ingredient := pick()),
                "quantity": chance.randint(1, 400),
                "unit": unit_of[ingredient],
                "location": "pantry",
                # A shelf life of its own for each: the same thing twice is one row.
                "expires_on": date.fromordinal(date(2026, 5, 21).toordinal() + number).isoformat(),
                **TIMES,
            }
            for number in range(stocked)
        ),
    }
    base.write_now(
        lambda c: [c.execute(table.insert(), list(each)) for table, each in rows.items()]
    )
