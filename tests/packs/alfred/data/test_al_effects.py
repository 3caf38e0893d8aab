"""What follows from a change happens with it, and is undone with it; on both databases."""

from typing import Any

import pytest
from kitchen_desk import KitchenDesk, named

from callboard.choreography.turn.requests import WriteError
from callboard.library.relational.base import Base


@pytest.fixture
def desk(base: Base) -> KitchenDesk:
    return KitchenDesk(base)


def content(desk: KitchenDesk) -> dict[str, list[dict[str, Any]]]:
    """Return every row but for what a change always touches."""
    tables = ("recipes", "inventory_items", "shopping_items", "meal_plans", "tasks", "cooking_log")
    return {
        table: [
            {k: v for k, v in row.items() if k not in ("version", "updated_at")}
            for row in desk.rows(table)
        ]
        for table in tables
    }


def buy(desk: KitchenDesk, name: str, turn: int = 2) -> Any:
    return desk.write(
        turn,
        op="update",
        table="shopping_items",
        filters=named(name),
        set={"status": "purchased"},
    )


@pytest.mark.req("AL-147")
def test_what_is_bought_goes_into_stock(desk: KitchenDesk):
    desk.add("shopping_items", 1, name="Milk", quantity=2, unit="l")
    before = content(desk)
    result = buy(desk, "milk")
    assert result.notes == ["Milk: 2 l went into the fridge (now 2 l)."]
    assert desk.stock()["Milk"] == [(2, "l")]
    assert desk.rows("shopping_items")[0]["purchased_at"].startswith("2026-05-20T08:30")
    assert desk.rows("inventory_items", filters=[_of("milk")])[0]["purchased_on"] == "2026-05-20"
    desk.undo()
    assert content(desk) == before


@pytest.mark.req("AL-147", "AL-141")
def test_what_is_bought_joins_what_is_there(desk: KitchenDesk):
    desk.add("inventory_items", 1, ingredient="flour", quantity=1, unit="kg")
    desk.add("shopping_items", 1, name="flour", quantity=500, unit="g")
    before = content(desk)
    buy(desk, "flour")
    assert desk.stock()["flour"] == [(1.5, "kg")]
    # Saying it again buys nothing again.
    buy(desk, "flour", 3)
    assert desk.stock()["flour"] == [(1.5, "kg")]
    desk.undo()
    desk.undo()
    assert content(desk) == before


@pytest.mark.req("AL-147")
def test_household_things_are_not_food_in_stock(desk: KitchenDesk):
    desk.add("shopping_items", 1, name="paper towels", quantity=4)
    before = desk.stock()
    assert buy(desk, "paper towels").notes == []
    assert desk.stock() == before


def curry(desk: KitchenDesk) -> None:
    desk.add(
        "recipes",
        1,
        name="Chickpea Curry",
        servings=2,
        ingredients=[
            {"name": "chickpeas", "quantity": 240, "unit": "g"},
            {"name": "coconut milk", "quantity": 400, "unit": "ml"},
            {"name": "Onion", "quantity": 1},
            {"name": "Butter", "quantity": 2, "unit": "tbsp"},
            {"name": "coriander", "quantity": 1, "unit": "bunch", "optional": True},
            {"name": "chili flakes"},
        ],
        steps=["Fry.", "Simmer."],
    )
    stock: list[dict[str, Any]] = [
        {"ingredient": "chickpeas", "quantity": 0.2, "unit": "kg", "expires_on": "2026-06-01"},
        {"ingredient": "chickpeas", "quantity": 500, "unit": "g", "expires_on": "2026-05-25"},
        {"ingredient": "chickpeas", "quantity": 500, "unit": "g"},
        {"ingredient": "coconut milk", "quantity": 300, "unit": "ml"},
        {"ingredient": "coriander", "quantity": 1, "unit": "bunch", "low_threshold": 1},
    ]
    desk.write(2, op="create", table="inventory_items", records=stock)


@pytest.mark.req("AL-147", "AL-152")
def test_cooking_logs_ticks_off_rates_and_deducts(desk: KitchenDesk):
    curry(desk)
    desk.add("meal_plans", 3, plan_date="@today", recipe="Chickpea Curry")
    before = content(desk)
    result = desk.add(
        "cooking_log",
        4,
        recipe="chickpea curry",
        servings=5,
        rating=5,
        inventory_deducted=True,
    )
    logged = desk.rows("cooking_log")[0]
    assert (logged["recipe_name"], logged["servings"], logged["rating"]) == (
        "Chickpea Curry",
        5,
        5,
    )
    slot = desk.rows("meal_plans")[0]
    assert (slot["status"], logged["meal_plan_id"]) == ("cooked", slot["id"])
    assert desk.rows("recipes", filters=named("chickpea curry"))[0]["rating"] == 5
    stock = desk.stock()
    # 600 g: first what expires on the 25th, then half of what expires in June.
    assert stock["chickpeas"] == [(0.1, "kg"), (500, "g")]
    assert "coconut milk" not in stock
    assert stock["Onion"] == [(0.5, None)]
    assert stock["coriander"] == [(1, "bunch")]
    # A tablespoon of butter has no known weight here: the catalogue does not say.
    assert stock["Butter"] == [(250, "g")]
    assert "Stock held 700 ml too little coconut milk." in result.notes
    assert any("cannot be compared: Butter" in note for note in result.notes)
    desk.undo()
    assert content(desk) == before


@pytest.mark.req("AL-147")
def test_cooking_without_deduction_leaves_stock_alone(desk: KitchenDesk):
    curry(desk)
    before = desk.stock()
    desk.add("cooking_log", 3, recipe="chickpea curry")
    assert desk.stock() == before
    entry = [{"field": "id", "op": "eq", "value": desk.rows("cooking_log")[0]["id"]}]
    later = {"op": "update", "table": "cooking_log", "filters": entry}
    desk.write(4, **later, set={"inventory_deducted": True})
    assert desk.stock()["chickpeas"] == [(0.2, "kg"), (260, "g"), (500, "g")]
    with pytest.raises(WriteError, match="already taken"):
        desk.write(5, **later, set={"inventory_deducted": True})
    desk.undo()
    assert desk.stock() == before


@pytest.mark.req("AL-147")
def test_what_is_used_up_is_gone_unless_it_is_watched(desk: KitchenDesk):
    desk.add("inventory_items", 1, ingredient="milk", quantity=1, unit="l")
    desk.add("inventory_items", 2, ingredient="flour", quantity=1, unit="kg", low_threshold=0.5)
    for turn, name in enumerate(["milk", "flour"], start=3):
        desk.write(
            turn,
            op="update",
            table="inventory_items",
            filters=[_of(name)],
            set={"quantity": 0},
        )
    stock = desk.stock()
    assert "milk" not in stock
    assert stock["flour"] == [(0, "kg")]


@pytest.mark.req("AL-147", "AL-140")
def test_an_effect_that_fails_takes_the_change_with_it(
    desk: KitchenDesk, monkeypatch: pytest.MonkeyPatch
):
    desk.add("shopping_items", 1, name="Milk", quantity=2, unit="l")
    before = content(desk)
    changes = "callboard.library.relational.changes.RowChanges"

    def broken(*_: Any, **__: Any) -> None:
        raise OSError("the power went")

    monkeypatch.setattr(f"{changes}.insert", broken)
    with pytest.raises(OSError, match="power"):
        buy(desk, "milk")
    monkeypatch.undo()
    assert content(desk) == before
    buy(desk, "milk")
    assert desk.stock()["Milk"] == [(2, "l")]


def test_a_done_task_knows_when(desk: KitchenDesk):
    desk.add("tasks", 1, description="Soak beans")
    where = [{"field": "description", "op": "eq", "value": "Soak beans"}]
    for turn, status in enumerate(["done", "open"], start=2):
        desk.write(turn, op="update", table="tasks", filters=where, set={"status": status})
        assert (desk.rows("tasks")[0]["completed_at"] is None) == (status == "open")


def _of(name: str) -> dict[str, Any]:
    return {"field": "ingredient.name", "op": "eq", "value": name}
