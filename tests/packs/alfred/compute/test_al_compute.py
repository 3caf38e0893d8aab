"""The kitchen's arithmetic: rows in, exact figures out."""

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.choreography.turn.domain import Who
from callboard.core.errors import InvalidInput
from callboard.packs.alfred.kitchen.compute.functions import compute_functions
from callboard.packs.alfred.kitchen.compute.matching import (
    MatchOptions,
    match_recipes,
    open_slots,
    scale_recipe,
)
from callboard.packs.alfred.kitchen.compute.rows import FoodCatalogue
from callboard.packs.alfred.kitchen.compute.shortages import (
    aggregate_shopping,
    group_shopping,
    missing_ingredients,
)
from callboard.packs.alfred.kitchen.compute.upkeep import (
    category_counts,
    cooking_stats,
    deduct_inventory,
    expiring_soon,
    low_stock,
)
from callboard.packs.alfred.kitchen.food.checking import Eater

TODAY = date(2026, 5, 20)
OPTIONS = MatchOptions(TODAY)


def line(name: str, quantity: float | None = None, unit: str | None = None, **more: Any) -> Any:
    return {"name": name, "quantity": quantity, "unit": unit, "optional": False, **more}


def item(name: str, quantity: float | None = None, unit: str | None = None, **more: Any) -> Any:
    return {"id": name, "ingredient": {"name": name}, "quantity": quantity, "unit": unit, **more}


def recipe(name: str, *lines: Any, **more: Any) -> Any:
    return {"id": name, "name": name, "servings": 2, "ingredients": list(lines), **more}


@pytest.mark.req("AL-149")
def test_recipes_are_matched_and_ordered():
    stock = [
        item("Flour", 1, "kg"),
        item("Egg", 2),
        item("Milk", 500, "ml", expires_on="2026-05-22"),
        item("Sugar"),
    ]
    recipes = [
        recipe("Zebra cake", line("flour", 200, "g"), line("eggs", 2)),
        recipe("Pudding", line("milk", 0.5, "l"), line("sugar", 50, "g")),
        recipe("Angel cake", line("flour", 200, "g"), line("eggs", 2), rating=3),
        recipe("Big cake", line("flour", 2, "kg"), line("eggs", 2)),
        recipe("Fudge", line("cream", 1, "l"), line("sugar", 1, "kg"), line("salt", 1, "kg")),
        recipe("Toast", line("bread"), line("jam", optional=True)),
    ]
    found = match_recipes(recipes, stock, Eater(), OPTIONS)["matches"]
    assert [each["name"] for each in found] == [
        "Pudding", "Angel cake", "Zebra cake", "Big cake", "Fudge", "Toast",
    ]  # fmt: skip
    by_name = {each["name"]: each for each in found}
    assert by_name["Pudding"]["expiring_used"] == 1
    assert by_name["Pudding"]["unclear"] == ["sugar"]
    assert by_name["Big cake"]["short"] == [{"name": "flour", "needed": 2, "have": 1, "unit": "kg"}]
    assert by_name["Fudge"]["missing"] == ["cream"]
    assert by_name["Fudge"]["coverage"] == 0.5
    few = match_recipes(recipes, stock, Eater(), MatchOptions(TODAY, max_missing=0, limit=2))
    assert [each["name"] for each in few["matches"]] == ["Pudding", "Angel cake"]


@pytest.mark.req("AL-149")
def test_what_somebody_may_not_eat_is_no_match():
    recipes = [
        recipe("Nut roast", line("walnuts")),
        recipe("Surprise", line("secret", ingredient_id="i1")),
        recipe("Garden salad", line("lettuce")),
        recipe("Soup", line("water")),
    ]
    catalogue = FoodCatalogue.of([{"id": "i1", "name": "secret", "allergen_tags": ["nuts"]}])
    eater = Eater.of({"allergies": ["nuts"]}, ["avoid:salads"])
    found = match_recipes(recipes, [], eater, OPTIONS, catalogue)
    assert [each["name"] for each in found["matches"]] == ["Soup"]
    assert {each["name"]: each["blocked_by"] for each in found["blocked"]} == {
        "Nut roast": ["allergy: nuts"],
        "Surprise": ["allergy: nuts"],
        "Garden salad": ["avoid: salads"],
    }


@pytest.mark.req("AL-150")
def test_missing_ingredients_of_the_scenario():
    made = recipe(
        "Soup",
        line("milk", 400, "ml"),
        line("cheese", 250, "g"),
        line("flour", 1, "cup"),
        line("salt", 1, "tsp"),
        line("parsley"),
        line("egg", 1),
        line("egg", 2),
    )
    stock = [item("milk", 1, "l"), item("cheese", 100, "g"), item("flour", 500, "g")]
    found = missing_ingredients(made, stock)
    missing = {each["name"]: (each["to_buy"], each["unit"]) for each in found["missing"]}
    assert missing == {
        "cheese": (150, "g"),
        "flour": (1, "cup"),
        "parsley": (None, None),
        "egg": (3, None),
    }
    by_name = {each["name"]: each for each in found["lines"]}
    assert by_name["flour"]["unit_mismatch"]
    assert not by_name["cheese"]["unit_mismatch"]
    assert (by_name["milk"]["have"], by_name["milk"]["to_buy"]) == (1000, 0)
    dense = FoodCatalogue.of([{"id": "f", "name": "flour", "g_per_ml": 0.529}])
    known = [{**each, "ingredient_id": "f"} for each in made["ingredients"][2:3]]
    enough = missing_ingredients(
        {**made, "ingredients": known},
        [{"id": "x", "ingredient_id": "f", "quantity": 500, "unit": "g"}],
        catalogue=dense,
    )
    assert enough["missing"] == []


@pytest.mark.req("AL-150")
@given(st.floats(0.1, 100), st.floats(0, 10_000), st.floats(0.1, 100))
def test_what_is_to_be_bought_is_never_negative(need: float, have: float, servings: float):
    made = recipe("Soup", line("milk", need, "l"))
    found = missing_ingredients(made, [item("milk", have, "ml")], servings)["lines"][0]
    assert found["to_buy"] >= 0
    assert found["to_buy"] == pytest.approx(max(need * servings / 2 - have / 1000, 0), abs=0.002)


@pytest.mark.req("AL-150")
def test_a_recipe_is_scaled_and_keeps_what_has_no_quantity():
    scaled = scale_recipe(recipe("Soup", line("milk", 1, "cup"), line("salt")), 3)
    assert [(each["quantity"], each["shown"]) for each in scaled["ingredients"]] == [
        (1.5, "1½"),
        (None, ""),
    ]
    for servings in (0, -1, float("nan")):
        with pytest.raises(InvalidInput):
            scale_recipe(scaled, servings)


@pytest.mark.req("AL-151")
def test_one_list_for_many_meals():
    soup = recipe("Soup", line("onions", 2), line("milk", 500, "ml"), line("salt", 1, "tsp"))
    stew = recipe(
        "Stew", line("onion", 1), line("milk", 1, "l"), line("thyme"), line("rice", 1, "cup")
    )
    meals = [{"recipe": soup, "servings": 4}, {"recipe": stew, "servings": None}]
    stock = [item("onion", 1), item("milk", 250, "ml")]
    listed = [
        {"id": "l1", "name": "Milk", "quantity": 0.25, "unit": "l", "status": "needed"},
        {"id": "l2", "name": "thyme", "quantity": None, "unit": None, "status": "in_cart"},
        {"id": "l3", "name": "onion", "quantity": 9, "unit": None, "status": "purchased"},
        {"id": "l4", "name": "rice", "quantity": 100, "unit": "g", "status": "needed"},
    ]
    items = aggregate_shopping(meals, stock, listed)["items"]
    assert [
        (each["name"], each["quantity"], each["unit"], each["unit_mismatch"]) for each in items
    ] == [
        ("onions", 4, None, False),
        ("milk", 1500, "ml", False),
        ("rice", 1, "cup", True),
    ]
    assert items[0]["recipes"] == ["Soup", "Stew"]


@pytest.mark.req("AL-151")
def test_a_list_is_grouped_as_the_profile_wants_it():
    items = [
        {"name": "milk", "category": "dairy_eggs"},
        {"name": "apples", "category": "produce"},
        {"name": "butter"},
        {"name": "paper towels", "category": "household"},
    ]
    aisles = group_shopping(items, "by_aisle")["groups"]
    assert {name: [each["name"] for each in group] for name, group in aisles.items()} == {
        "Chilled": ["butter", "milk"],
        "Fruit & vegetables": ["apples"],
        "Household": ["paper towels"],
    }
    assert list(group_shopping(items, "by_category")["groups"]) == [
        "dairy_eggs",
        "household",
        "produce",
    ]
    assert list(group_shopping(items, "unorganized")["groups"]) == ["everything"]


@pytest.mark.req("AL-152")
def test_what_expires_and_what_runs_low():
    stock = [
        item("old", 1, expires_on="2026-05-19"),
        item("soon", 1, expires_on="2026-05-23"),
        item("later", 1, expires_on="2026-05-24"),
        item("eaten", 0, expires_on="2026-05-20", low_threshold=1),
        item("low", 0.5, low_threshold=0.5),
        item("fine", 2, low_threshold=1),
    ]
    found = expiring_soon(stock, TODAY)["items"]
    assert [(each["name"], each["days_left"], each["is_expired"]) for each in found] == [
        ("old", -1, True),
        ("soon", 3, False),
    ]
    assert [(each["name"], each["is_out"]) for each in low_stock(stock)["items"]] == [
        ("eaten", True),
        ("low", False),
    ]


@pytest.mark.req("AL-152")
def test_open_slots_leave_out_what_is_planned_and_days_off():
    planned = [
        {"plan_date": "2026-05-22", "meal_type": "dinner", "status": "planned"},
        {"plan_date": "2026-05-23", "meal_type": "dinner", "status": "skipped"},
    ]
    slots = open_slots(date(2026, 5, 21), date(2026, 5, 24), ("dinner",), planned, ["fri", "sat"])
    assert [slot["date"] for slot in slots["slots"]] == ["2026-05-23"]
    # The night the clocks go forward is a day like any other.
    spring = open_slots(date(2026, 3, 28), date(2026, 3, 30))
    assert [slot["date"] for slot in spring["slots"]] == ["2026-03-28", "2026-03-29", "2026-03-30"]
    with pytest.raises(InvalidInput):
        open_slots(TODAY, date(2027, 5, 20))


@pytest.mark.req("AL-152")
@given(
    st.lists(
        st.tuples(
            st.floats(0, 500), st.sampled_from(["g", "kg", None]), st.integers(1, 28) | st.none()
        ),
        max_size=6,
    ),
    st.floats(0.1, 2000),
)
def test_stock_is_taken_by_expiry_and_never_below_nothing(
    rows: list[tuple[float, str | None, int | None]], needed: float
):
    stock = [
        {
            "id": str(number),
            "ingredient": {"name": "rice"},
            "quantity": round(quantity, 3),
            "unit": unit,
            "expires_on": None if day is None else f"2026-06-{day:02d}",
        }
        for number, (quantity, unit, day) in enumerate(rows)
    ]
    outcome = deduct_inventory(recipe("R", line("rice", needed, "g")), None, stock)
    grams = {"g": 1, "kg": 1000}
    taken = {each["id"]: each for each in outcome["taken"]}
    used = sum((each["before"] - each["after"]) * grams[each["unit"]] for each in taken.values())
    weighed = [row for row in stock if row["unit"] and row["quantity"] > 0]
    available = sum(row["quantity"] * grams[row["unit"]] for row in weighed)
    assert all(each["after"] >= 0 for each in taken.values())
    assert used == pytest.approx(min(needed, available), abs=0.51 * max(len(taken), 1))
    # Whoever is left untouched expires no earlier than anybody who was touched.
    touched = [row["expires_on"] or "9" for row in weighed if row["id"] in taken]
    untouched = [row["expires_on"] or "9" for row in weighed if row["id"] not in taken]
    assert not touched or not untouched or max(touched) <= min(untouched)


@pytest.mark.req("AL-152")
def test_the_log_is_counted():
    log = [
        {"recipe_name": "Soup", "cooked_at": "2026-05-01T18:00:00Z", "rating": 4, "minutes": 30},
        {"recipe_name": "soups", "cooked_at": "2026-05-02T18:00:00Z", "rating": 5},
        {"recipe_name": "Stew", "cooked_at": "2026-04-02T18:00:00Z", "minutes": 50},
    ]
    assert cooking_stats(log)["most_cooked"] == [
        {"name": "soups", "count": 2},
        {"name": "Stew", "count": 1},
    ]
    may = cooking_stats(log, date(2026, 5, 1), date(2026, 5, 31))
    assert (may["count"], may["average_rating"], may["average_minutes"]) == (2, 4.5, 30)
    assert cooking_stats([])["count"] == 0
    assert category_counts([{"category": "meat"}, {"category": "meat"}, {}])["counts"] == {
        "meat": 2,
        "other": 1,
    }


@pytest.mark.req("AL-154")
def test_every_function_is_named_described_and_gives_plain_data():
    functions = compute_functions()
    assert set(functions) == {
        "match_recipes", "missing_ingredients", "scale_recipe", "aggregate_shopping",
        "group_shopping", "expiring_soon", "low_stock", "open_slots", "deduct_inventory",
        "check_constraints", "category_counts", "cooking_stats",
    }  # fmt: skip
    tables = {
        "recipes": [recipe("Soup", line("milk", 1, "l"))],
        "inventory_items": [item("milk", 1, "l", expires_on="2026-05-21")],
        "shopping_items": [{"name": "milk", "status": "needed", "quantity": None}],
        "user_profile": [{"allergies": ["dairy"], "cooking_days": ["fri"]}],
    }
    before = json.dumps(tables)
    results = {
        name: function.run(tables, Who("ann"), {"today": "2026-05-20", "servings": 4})
        for name, function in functions.items()
    }
    assert json.loads(json.dumps(results)) == results
    assert json.dumps(tables) == before
    assert all("\n" not in each.summary and each.summary for each in functions.values())
    assert not results["check_constraints"]["is_safe"]
    assert results["match_recipes"]["matches"] == []
    assert [slot["day"] for slot in results["open_slots"]["slots"]] == ["fri"]


@pytest.mark.req("AL-149")
def test_staples_are_a_choice():
    function = compute_functions(["soy sauce"])["match_recipes"]
    tables = {"recipes": [recipe("Rice", line("soy sauce"), line("salt"))], "inventory_items": []}
    found = function.run(tables, Who("ann"), {"today": "2026-05-20"})
    assert found["matches"][0]["missing"] == ["salt"]


def test_a_recipe_with_two_hundred_ingredients_is_matched():
    lines = [line(f"thing number {number}", 1, "g") for number in range(200)]
    found = match_recipes([recipe("Everything", *lines)], [], Eater(), OPTIONS)["matches"]
    assert len(found[0]["missing"]) == 200
