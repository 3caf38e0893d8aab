"""The kitchen's rules of writing: names, merging, what is asked; on both databases."""

from typing import Any

import pytest
from kitchen_desk import KitchenDesk, named

from callboard.choreography.turn.requests import WriteError
from callboard.library.relational.base import Base


@pytest.fixture
def desk(base: Base) -> KitchenDesk:
    return KitchenDesk(base)


def amounts(desk: KitchenDesk) -> list[tuple[str, float | None, str | None]]:
    rows = desk.rows("shopping_items", order_by=[{"column": "name"}, {"column": "unit"}])
    return [(row["name"], row["quantity"], row["unit"]) for row in rows]


@pytest.mark.req("AL-139")
@pytest.mark.parametrize(
    ("said", "found", "note"),
    [
        ("butter", "Butter", None),
        ("ONIONS", "Onion", None),
        ("scallions", "Onion", None),
        ("Chiken thigh", "Chicken thigh", "Took 'Chiken thigh' for 'Chicken thigh'."),
        ("smoked paprika", "smoked paprika", "'smoked paprika' is new here; filed under spices."),
        ("unobtainium", "unobtainium", "'unobtainium' is new here; filed under other."),
        ("חומוס 🥣", "חומוס 🥣", "'חומוס 🥣' is new here; filed under other."),
    ],
)
def test_a_name_becomes_an_ingredient(desk: KitchenDesk, said: str, found: str, note: str | None):
    result = desk.add("inventory_items", ingredient=said, location="other", quantity=1)
    assert result.labels == [found]
    assert result.notes == ([note] if note else [])
    again = desk.add("inventory_items", 2, name=said, location="freezer", quantity=1)
    assert again.rows[0]["ingredient_id"] == result.rows[0]["ingredient_id"]
    assert "is new here" not in " ".join(again.notes)


@pytest.mark.req("AL-139")
def test_a_near_name_with_another_allergen_is_another_ingredient(desk: KitchenDesk):
    first = desk.add("inventory_items", ingredient="organic walnut pieces", quantity=1)
    other = desk.add("inventory_items", 2, ingredient="organic walrut pieces", quantity=1)
    assert first.rows[0]["ingredient_id"] != other.rows[0]["ingredient_id"]


@pytest.mark.req("AL-139")
def test_what_is_no_food_needs_no_ingredient(desk: KitchenDesk):
    result = desk.write(
        op="create",
        table="shopping_items",
        records=[{"name": "paper towels"}, {"name": "Onions"}, {"name": "birthday candles"}],
    )
    assert [(row["ingredient_id"], row["category"]) for row in result.rows] == [
        (None, "household"),
        ("ing-onion", "other"),
        (None, "household"),
    ]
    assert result.notes == []


@pytest.mark.req("AL-139")
@pytest.mark.parametrize("name", ["", "   ", "x" * 201, 7])
def test_what_is_no_name_is_refused(desk: KitchenDesk, name: Any):
    with pytest.raises(WriteError) as refused:
        desk.add("inventory_items", ingredient=name, quantity=1)
    assert refused.value.kind == "validation"


@pytest.mark.req("AL-139", "AL-136")
def test_a_recipe_names_its_ingredients(desk: KitchenDesk):
    result = desk.add(
        "recipes",
        name="Pancakes",
        ingredients=[{"name": "Plain flour", "quantity": 200, "unit": "grams"}, "2 eggs", "salt"],
        steps=["Mix.", "Fry."],
        tags=["Breakfast"],
    )
    assert result.created == 1
    recipe = desk.rows("recipes", filters=named("pancake"), include=["ingredients", "tags"])[0]
    lines = recipe["ingredients"]
    assert [(line["name"], line["quantity"], line["unit"]) for line in lines] == [
        ("Plain flour", 200, "g"),
        ("eggs", 2, None),
        ("salt", None, None),
    ]
    assert lines[0]["raw_text"] == "200 g Plain flour"
    assert [tag["tag"] for tag in recipe["tags"]] == ["breakfast"]


@pytest.mark.req("AL-141")
def test_eggs_and_eggs_are_more_eggs(desk: KitchenDesk):
    desk.add("shopping_items", 1, name="Eggs", quantity=2)
    result = desk.add("shopping_items", 2, name="egg", quantity=6, unit="pieces")
    assert (result.created, result.updated) == (0, 1)
    assert [(each.before, each.after) for each in result.merged] == [("2", "8")]
    assert amounts(desk) == [("Eggs", 8, None)]


@pytest.mark.req("AL-141")
def test_some_and_six_are_six(desk: KitchenDesk):
    desk.add("shopping_items", 1, name="eggs")
    result = desk.add("shopping_items", 2, name="eggs", quantity=6)
    assert "Some is already listed." in result.notes
    assert amounts(desk) == [("eggs", 6, None)]
    again = desk.add("shopping_items", 3, name="eggs")
    assert "Some is already listed." in again.notes
    assert amounts(desk) == [("eggs", 6, None)]


@pytest.mark.req("AL-141", "AL-153")
def test_units_that_measure_the_same_are_added(desk: KitchenDesk):
    desk.add("shopping_items", 1, name="butter", quantity=250, unit="g")
    desk.add("shopping_items", 2, name="butter", quantity=0.5, unit="kg")
    desk.add("shopping_items", 3, name="butter", quantity=1, unit="lb")
    assert amounts(desk) == [("butter", 1203.592, "g")]


@pytest.mark.req("AL-141", "AL-153")
def test_units_that_do_not_stay_apart(desk: KitchenDesk):
    desk.add("shopping_items", 1, name="tomatoes", quantity=3)
    desk.add("shopping_items", 2, name="tomatoes", quantity=2, unit="cans")
    desk.add("shopping_items", 3, name="tomatoes", quantity=3, unit="smidgens")
    desk.add("shopping_items", 4, name="tomatoes", quantity=1, unit="smidgen")
    desk.add("shopping_items", 5, name="tomatoes", quantity=1, unit="tin")
    assert {(q, u) for _, q, u in amounts(desk)} == {(3, None), (3, "can"), (4, "smidgens")}


@pytest.mark.req("AL-141")
def test_what_was_bought_is_not_added_to(desk: KitchenDesk):
    desk.add("shopping_items", 1, name="butter", quantity=1)
    desk.write(
        2,
        op="update",
        table="shopping_items",
        filters=named("butter"),
        set={"status": "purchased"},
    )
    desk.add("shopping_items", 3, name="butter", quantity=2)
    rows = desk.rows("shopping_items")
    assert sorted((row["status"], row["quantity"]) for row in rows) == [
        ("needed", 2),
        ("purchased", 1),
    ]


@pytest.mark.req("AL-142")
def test_putting_a_recipe_away_is_asked_about(desk: KitchenDesk):
    delete = {"op": "delete", "table": "recipes", "filters": named("Lentil Soup")}
    preview = desk.preview(**delete)
    assert preview.reasons == ["'Lentil Soup' would be put away"]
    with pytest.raises(WriteError) as refused:
        desk.write(**delete)
    assert refused.value.kind == "needs_confirmation"
    assert desk.write(1, preview, **delete).deleted == 1
    assert desk.rows("recipes", filters=named("lentil soup")) == []


@pytest.mark.req("AL-142")
def test_a_taken_meal_slot_is_asked_about(desk: KitchenDesk):
    desk.add("meal_plans", plan_date="@today", recipe="lentil soup")
    other = {"plan_date": "@today+0d", "meal_type": "dinner", "recipe": "Greek Salad"}
    request = {"op": "create", "table": "meal_plans", "records": [other]}
    preview = desk.preview(**request)
    assert preview.reasons == ["dinner on 2026-05-20: Lentil Soup would be replaced"]
    with pytest.raises(WriteError, match="would be replaced"):
        desk.write(2, **request)
    desk.write(2, preview, **request)
    rows = desk.rows("meal_plans", include=["recipe"])
    assert [row["recipe"]["name"] for row in rows] == ["Greek Salad"]
    desk.undo()
    rows = desk.rows("meal_plans", include=["recipe"])
    assert [row["recipe"]["name"] for row in rows] == ["Lentil Soup"]


@pytest.mark.req("AL-142")
def test_moving_a_meal_onto_another_is_refused(desk: KitchenDesk):
    desk.add("meal_plans", plan_date="2026-05-21", recipe="lentil soup")
    desk.add("meal_plans", 2, plan_date="2026-05-22", note="Leftovers")
    move = {
        "op": "update",
        "table": "meal_plans",
        "filters": [{"field": "note", "op": "eq", "value": "Leftovers"}],
        "set": {"plan_date": "2026-05-21"},
    }
    assert desk.preview(**move).reasons == ["dinner on 2026-05-21: Lentil Soup would be replaced"]
    free = {**move, "set": {"plan_date": "2026-05-23", "servings": 2}}
    assert desk.preview(**free).reasons == []


@pytest.mark.req("AL-142")
def test_dropping_an_allergy_is_asked_about(desk: KitchenDesk):
    more = {"op": "upsert", "table": "user_profile"}
    added = desk.write(1, **more, records=[{"allergies": ["Tree nuts", "Sesame allergy"]}])
    assert added.rows[0]["allergies"] == ["nuts", "sesame"]
    fewer = {**more, "records": [{"allergies": ["sesame"], "diet": ["Vegan"]}]}
    preview = desk.preview(**fewer)
    assert preview.reasons == ["nuts would no longer be among your allergies"]
    with pytest.raises(WriteError, match="no longer"):
        desk.write(2, **fewer)
    assert desk.rows("user_profile")[0]["allergies"] == ["nuts", "sesame"]
    desk.write(3, preview, **fewer)
    assert desk.rows("user_profile")[0]["diet"] == ["vegan"]
    assert desk.preview(**more, records=[{"diet": []}]).needs_confirmation


@pytest.mark.req("AL-142")
@pytest.mark.parametrize(
    "record", [{"default_mode": "turbo"}, {"cooking_days": ["someday"]}, {"household_size": 0}]
)
def test_a_profile_holds_only_what_it_knows(desk: KitchenDesk, record: dict[str, Any]):
    with pytest.raises(WriteError) as refused:
        desk.write(op="upsert", table="user_profile", records=[record])
    assert refused.value.kind == "validation"


@pytest.mark.req("AL-146")
def test_a_planned_recipe_that_goes_leaves_its_name(desk: KitchenDesk):
    for turn, day in enumerate(["2026-05-19", "2026-05-20", "2026-05-24"], start=1):
        desk.add("meal_plans", turn, plan_date=day, recipe="Lentil Soup")
    delete = {"op": "delete", "table": "recipes", "filters": named("Lentil Soup")}
    preview = desk.preview(**delete)
    assert preview.reasons[0] == "'Lentil Soup' is planned for 2026-05-20, 2026-05-24"
    desk.write(4, preview, **delete)
    rows = desk.rows("meal_plans", order_by=[{"column": "plan_date"}])
    assert [(row["recipe_id"], row["note"]) for row in rows] == [
        ("ann-r1", None),
        (None, "Lentil Soup"),
        (None, "Lentil Soup"),
    ]
    desk.undo()
    rows = desk.rows("meal_plans")
    assert {(row["recipe_id"], row["note"]) for row in rows} == {("ann-r1", None)}
    assert len(desk.rows("recipes", filters=named("lentil soup"))) == 1


@pytest.mark.req("AL-146")
def test_stock_lists_and_tasks_go_for_good(desk: KitchenDesk):
    desk.add("tasks", 1, description="Soak beans")
    for turn, (table, field) in enumerate(
        [("tasks", "description"), ("shopping_items", "name")], start=2
    ):
        if table == "shopping_items":
            desk.add(table, turn, name="Soak beans")
        where = [{"field": field, "op": "eq", "value": "Soak beans"}]
        assert desk.write(turn + 10, op="delete", table=table, filters=where).deleted == 1
        assert desk.rows(table) == []
    desk.write(
        20,
        op="delete",
        table="inventory_items",
        filters=[{"field": "ingredient.name", "op": "eq", "value": "butter"}],
    )
    assert "Butter" not in desk.stock()


@pytest.mark.req("AL-146")
def test_the_cooking_log_is_forgotten_one_at_a_time(desk: KitchenDesk):
    for turn in (1, 2):
        desk.add("cooking_log", turn, recipe="Lentil Soup")
    every = [{"field": "recipe_name", "op": "eq", "value": "Lentil Soup"}]
    with pytest.raises(WriteError, match="one at a time"):
        desk.write(3, op="delete", table="cooking_log", filters=every)
    one = [{"field": "id", "op": "eq", "value": desk.rows("cooking_log")[0]["id"]}]
    assert desk.write(4, op="delete", table="cooking_log", filters=one).deleted == 1


@pytest.mark.req("AL-138")
def test_a_recipe_that_is_not_there_is_named(desk: KitchenDesk):
    with pytest.raises(WriteError, match="no recipe called 'Moussaka'") as refused:
        desk.add("meal_plans", plan_date="@today", recipe="Moussaka")
    assert refused.value.kind == "fk_missing"
    with pytest.raises(WriteError, match="needs a recipe or a note"):
        desk.add("meal_plans", plan_date="@today")


@pytest.mark.req("AL-137")
def test_a_name_that_is_taken_is_refused(desk: KitchenDesk):
    with pytest.raises(WriteError, match="already have a recipe") as refused:
        desk.add("recipes", name="lentil  SOUPS")
    assert refused.value.kind == "duplicate"
    with pytest.raises(WriteError) as refused:
        desk.write(
            op="update",
            table="recipes",
            filters=named("Greek Salad"),
            set={"name": "Lentil soup"},
        )
    assert refused.value.kind == "duplicate"
    with pytest.raises(WriteError, match="needs its address"):
        desk.add("recipes", name="Somewhere", storage="link")
    assert desk.add("recipes", name="There", storage="link", source_url="https://a.example").ids
