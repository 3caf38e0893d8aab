"""The best matches found by the database are those that arithmetic over all rows finds."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kitchen_base import TIMES, sqlite_base
from sqlalchemy import delete, insert

from callboard.knowledge.entities.matching import name_key
from callboard.library.relational.base import Base
from callboard.packs.alfred.kitchen.compute.matching import MatchOptions, match_recipes
from callboard.packs.alfred.kitchen.compute.rows import FoodCatalogue
from callboard.packs.alfred.kitchen.cookable import match_in_database
from callboard.packs.alfred.kitchen.food.checking import Eater
from callboard.packs.alfred.kitchen.food.groups import allergens_in
from callboard.packs.alfred.kitchen.schema import recipes as r
from callboard.packs.alfred.kitchen.schema import tables as s
from callboard.packs.alfred.kitchen.schema.tables import users

FOODS = ["flour", "milk", "walnut", "egg", "salt", "rice", "shallot", "beef", "leek", "oil"]
UNITS = ["g", "kg", "ml", "cup", "smidgen", None]
AMOUNT = st.none() | st.floats(0.5, 300).map(lambda number: round(number, 3))
LINE = st.tuples(st.sampled_from(FOODS), AMOUNT, st.sampled_from(UNITS), st.booleans())
RECIPE = st.tuples(
    st.lists(LINE, max_size=5), st.none() | st.integers(1, 5), st.sampled_from(["salad", "soup"])
)
ITEM = st.tuples(
    st.sampled_from(FOODS),
    st.none() | st.floats(0, 300).map(lambda number: round(number, 3)),
    st.sampled_from(UNITS),
    st.none() | st.integers(18, 28),
)


@pytest.mark.req("AL-149")
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(RECIPE, max_size=12),
    st.lists(ITEM, max_size=10),
    st.sampled_from([Eater(), Eater(("nuts",)), Eater(diet=("vegetarian",), avoided=("salad",))]),
    st.none() | st.integers(0, 2),
    st.integers(1, 6),
)
def test_both_ways_find_the_same(
    base: Base, made: list[Any], stocked: list[Any], eater: Eater, most: int | None, limit: int
):
    catalogue = [_food(name) for name in FOODS]
    recipes = [_recipe(number, each) for number, each in enumerate(made)]
    items = [_item(number, each) for number, each in enumerate(stocked)]
    items = list({(i["ingredient_id"], i["unit"], i["expires_on"]): i for i in items}.values())
    base.write_now(lambda c: _fill(c, catalogue, recipes, items))
    options = MatchOptions(date(2026, 5, 20), max_missing=most, limit=limit)
    wanted = match_recipes(recipes, items, eater, options, FoodCatalogue.of(catalogue))["matches"]
    found = base.read_now(lambda c: match_in_database(c, "cook", eater, options))
    assert found == wanted


def _food(name: str) -> dict[str, Any]:
    tags = sorted(allergens_in(name))
    density = 0.5 if name == "flour" else None
    return {
        "id": f"f-{name}",
        "name": name,
        "name_key": name_key(name),
        "allergen_tags": tags,
        "g_per_ml": density,
    }


def _recipe(number: int, given: Any) -> dict[str, Any]:
    lines, rating, kind = given
    return {
        "id": f"c{number}",
        "name": f"Dish {number} {kind}",
        "rating": rating,
        "servings": 2.0,
        "total_minutes": None,
        "tags": [{"tag": kind}],
        "ingredients": [
            {
                "ingredient_id": f"f-{name}",
                "quantity": quantity,
                "unit": unit,
                "optional": optional,
                "raw_text": name,
            }
            for name, quantity, unit, optional in lines
        ],
    }


def _item(number: int, given: Any) -> dict[str, Any]:
    name, quantity, unit, day = given
    return {
        "id": f"i{number:02d}",
        "ingredient_id": f"f-{name}",
        "quantity": quantity,
        "unit": unit,
        "expires_on": None if day is None else f"2026-05-{day}",
    }


def _fill(connection: Any, catalogue: list[Any], recipes: list[Any], items: list[Any]) -> None:
    connection.execute(delete(users).where(users.c.id == "cook"))
    connection.execute(delete(r.ingredients).where(r.ingredients.c.id.like("f-%")))
    own = {"user_id": "cook", **TIMES}
    connection.execute(insert(users).values(id="cook", display_name="Cook", **TIMES))
    for each in catalogue:
        connection.execute(insert(r.ingredients).values(**each, **TIMES))
    for recipe in recipes:
        values = {k: recipe[k] for k in ("id", "name", "rating", "servings")}
        connection.execute(
            insert(r.recipes).values(**values, name_key=name_key(recipe["name"]), **own)
        )
        for tag in recipe["tags"]:
            connection.execute(
                insert(r.recipe_tags).values(recipe_id=recipe["id"], user_id="cook", **tag)
            )
        for position, line in enumerate(recipe["ingredients"]):
            connection.execute(
                insert(r.recipe_ingredients).values(
                    id=f"{recipe['id']}-{position}",
                    user_id="cook",
                    recipe_id=recipe["id"],
                    position=position,
                    **line,
                )
            )
    for each in items:
        connection.execute(insert(s.inventory_items).values(location="pantry", **each, **own))


@pytest.mark.req("AL-149")
def test_the_search_uses_its_indexes(tmp_path: Path):
    from callboard.packs.alfred.kitchen import cookable

    def plan(connection: Any) -> str:
        said: list[str] = []
        for statement in (cookable._NEEDING, cookable._SIZES, cookable._USING, cookable._RECIPES):
            listed = statement.replace(":many", "(SELECT value FROM json_each(:ids))")
            raw = connection.connection.driver_connection
            values = {"user": "ann", "ids": "[]"}
            said += [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {listed}", values)]
        return "\n".join(said)

    with sqlite_base(tmp_path) as base:
        found = base.read_now(plan)
    assert found.count("COVERING INDEX recipe_ingredients_by_ingredient") == 2
    assert "COVERING INDEX recipes_in_use" in found
