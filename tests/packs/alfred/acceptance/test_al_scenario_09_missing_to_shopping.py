"""Scenarios 9 and 11: what is missing is worked out by code; what is destroyed is shown first."""

from pathlib import Path
from typing import Any

import pytest
from alfred_home import CHAT, LISTEN, SUM, Home, open_home, plan, silent_host, step

from callboard.models import Line

pytestmark = pytest.mark.anyio

BAKE: dict[str, Any] = {
    "name": "Milk Bake",
    "servings": 2,
    "ingredients": [
        {"name": "milk", "quantity": 400, "unit": "ml"},
        {"name": "butter", "quantity": 250, "unit": "g"},
        {"name": "couscous", "quantity": 2, "unit": "cups"},
    ],
    "steps": [{"text": "Bake it."}],
}
MADE = Line(json=BAKE, prompt_type="act/generate", times=None)
DRAFT = plan(step("generate", "recipes", content_type="recipe"), times=1)
SAVE = (
    step(
        "write", "recipes", description="Save the recipe",
        write={"op": "create", "table": "recipes", "from_content": "temp_recipe_1"},
    ),
    step(
        "read", "recipes", 1, description="Read the recipe",
        query={"table": "recipes", "include": ["ingredients"],
               "filters": [{"field": "id", "op": "eq", "value": "g0.s0.id"}]},
    ),
    step("read", "inventory", 1, query={"table": "inventory_items", "include": ["ingredient"]}),
    step("analyze", "recipes", 2, compute="missing_ingredients"),
    step(
        "write", "shopping", 3, description="Add what is missing to the shopping list",
        write={"op": "upsert", "table": "shopping_items", "from_result": "g2.s0.missing",
               "records": [{"name": "$name", "quantity": "$to_buy", "unit": "$unit"}]},
    ),
)  # fmt: skip
STOCK = (
    {"ingredient": "milk", "quantity": 1, "unit": "l"},
    {"ingredient": "butter", "quantity": 100, "unit": "g"},
    {"ingredient": "couscous", "quantity": 100, "unit": "g"},
)
REQUEST = "Save that recipe and add what's missing to shopping"


async def draft(home: Home, *stock: dict[str, Any]) -> None:
    await home.alfred.set_profile(home.who, {"cooking_frequency": "3x_week"})
    await home.add("inventory_items", *stock)
    made = await home.say("Make me a milk bake", "create")
    assert [each["id"] for each in made.entities] == ["temp_recipe_1"]


@pytest.mark.req("AL-44", "AL-50", "AL-64", "AL-150", "AL-153")
async def test_scenario_09_missing_to_shopping(tmp_path: Path):
    lines = (LISTEN, DRAFT, plan(*SAVE), MADE, CHAT, silent_host, SUM)
    async with open_home(tmp_path, *lines) as home:
        await draft(home, *STOCK)
        said = await home.say(REQUEST, "plan")
        if said.action == "propose":
            assert await home.rows("recipes") == []
            said = await home.say("yes")
        assert await home.names("recipes") == ["Milk Bake"]
        listed = {row["name"]: (row["quantity"], row["unit"]) for row in
                  await home.rows("shopping_items")}  # fmt: skip
        assert "milk" not in listed
        assert listed["butter"] == (150, "g")
        assert listed["couscous"] == (2, "cup")
        assert "couscous" in said.message
        assert "another unit" in said.message


@pytest.mark.req("AL-52", "AL-104", "AL-140")
async def test_scenario_09_the_list_fails_and_the_recipe_stays(tmp_path: Path):
    """The last write is one the database refuses, whoever writes it anew."""
    broken = dict(SAVE[-1])
    broken["write"] = {**broken["write"], "records": [{"name": "$name", "quantity": -1}]}
    lines = (LISTEN, DRAFT, plan(*SAVE[:-1], broken), MADE, CHAT, silent_host, SUM)
    async with open_home(tmp_path, *lines) as home:
        await draft(home, *STOCK)
        said = await home.say(REQUEST, "plan")
        if said.action == "propose":
            said = await home.say("yes")
        assert await home.names("recipes") == ["Milk Bake"]
        assert await home.rows("shopping_items") == []
        assert "Not done: Add what is missing to the shopping list" in said.message
        assert home.states()["Milk Bake"] == "active"


@pytest.mark.req("AL-49", "AL-104")
async def test_scenario_09_what_a_mode_has_no_steps_for_is_told(tmp_path: Path):
    lines = (LISTEN, DRAFT, plan(*SAVE), MADE, CHAT, silent_host, SUM)
    async with open_home(tmp_path, *lines) as home:
        await draft(home, *STOCK)
        said = await home.say(REQUEST, "create")
        assert "Not done: Add what is missing to the shopping list" in said.message
        assert await home.rows("shopping_items") == []


@pytest.mark.req("AL-44", "AL-150")
async def test_scenario_09_on_a_small_model_code_routes_it(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await home.add("recipes", {
            "name": "Milk Bake", "servings": 2, "steps": ["Bake."],
            "ingredients": [
                {"ingredient": each["name"], "quantity": each["quantity"], "unit": each["unit"]}
                for each in BAKE["ingredients"]
            ],
        })  # fmt: skip
        await home.add("inventory_items", *STOCK)
        await home.say("add what's missing for Milk Bake to my shopping list", "quick")
        listed = {row["name"]: row["quantity"] for row in await home.rows("shopping_items")}
        assert listed == {"butter": 150, "couscous": 2}
        drafted = await home.say("Make me a weeknight pasta", "create")
        label = drafted.entities[-1]["label"]
        said = await home.say(REQUEST)
        if said.action == "propose":
            await home.say("yes")
        assert label in await home.names("recipes")
        assert len(await home.rows("shopping_items")) > 2


@pytest.mark.req("AL-142", "AL-145", "AL-146", "AL-136")
@pytest.mark.parametrize("small", [False, True])
async def test_scenario_11_destructive_safety(tmp_path: Path, small: bool):
    lines = () if small else (LISTEN, CHAT, silent_host, SUM)
    whole = {"include": ["ingredients", "tags", "steps"]}
    async with open_home(tmp_path, *lines, small=small) as home:
        home.seed()
        before = _plain(await home.rows("recipes", **whole))
        asked = await home.say("delete all my recipes", "quick")
        assert asked.action == "propose"
        assert asked.pending_proposal is not None
        (affected,) = asked.pending_proposal.affected
        assert (affected.count, len(affected.labels)) == (len(before), 5)
        assert str(len(before)) in asked.message
        assert all(label in asked.message for label in affected.labels)
        assert _plain(await home.rows("recipes", **whole)) == before
        await home.say("yes")
        assert await home.rows("recipes") == []
        away = await home.rows("recipes", include_archived=True)
        assert len(away) == len(before)
        assert all(row["archived_at"] for row in away)
        await home.say("undo that")
        assert _plain(await home.rows("recipes", **whole)) == before


@pytest.mark.req("AL-136", "AL-142")
async def test_scenario_11_an_empty_filter_of_the_model_is_refused(tmp_path: Path):
    wild = {"op": "delete", "table": "recipes", "filters": []}
    quick = Line(json={"steps": [step("write", "recipes", write=wild)]}, prompt_type="quick")
    again = Line(json=wild, prompt_type="act/write", times=None)
    async with open_home(tmp_path, quick, again, LISTEN, CHAT, silent_host, SUM) as home:
        home.seed()
        before = await home.names("recipes")
        said = await home.say("Delete everything", "quick")
        assert await home.names("recipes") == before
        assert "Not done" in said.message
        assert said.pending_proposal is None
        (shopping,) = [len(await home.rows("shopping_items"))]
        assert shopping >= 20


def _plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows without what says when and how often they were changed."""
    shown = [{k: v for k, v in row.items() if k not in ("updated_at", "version")} for row in rows]
    return sorted(shown, key=lambda row: str(row["name"]))
