"""Scenarios 3, 4 and 5: drafts wait, what is rejected stays away, what is old goes."""

from pathlib import Path
from typing import Any

import pytest
from alfred_home import (
    CHAT,
    LISTEN,
    SUM,
    open_home,
    plan,
    silent_host,
    simple_recipe,
    step,
)

from callboard.core.vocabulary import EntityState
from callboard.models import Line, ModelRequest
from callboard.prompts import OfflineTokenCounter
from callboard.store.journal.steps import load_journal

pytestmark = pytest.mark.anyio

PASTA: dict[str, Any] = {
    "name": "Weeknight Pasta",
    "servings": 2,
    "cook_minutes": 15,
    "cuisine": "italian",
    "ingredients": [
        {"name": "pasta", "quantity": 200, "unit": "g"},
        {"name": "tomato", "quantity": 3, "preparation": "diced"},
        {"name": "salt", "quantity": "to taste"},
    ],
    "steps": [{"text": "Boil the pasta — al dente.", "minutes": 10}, {"text": "Toss “it” all."}],
    "tags": ["quick"],
}
DRAFT = step("generate", "recipes", content_type="recipe", description="Draft a pasta")


@pytest.mark.req("AL-03", "AL-14", "AL-15", "AL-16", "AL-64", "AL-140", "AL-147")
async def test_scenario_03_generate_keep_save(tmp_path: Path):
    made = Line(json=PASTA, prompt_type="act/generate", times=None)
    async with open_home(tmp_path, LISTEN, plan(DRAFT), made, CHAT, silent_host, SUM) as home:
        drafted = await home.say("Make me a weeknight pasta", "create")
        (entity,) = home.alfred.talk.entities(home.session)
        assert (entity.id, entity.state.value) == ("temp_recipe_1", "pending")
        assert await home.rows("recipes") == []
        saved = await home.say("Save that")
        assert saved.action == "respond"
        (row,) = await home.rows("recipes", include=["ingredients", "steps", "tags"])
        assert len(row["ingredients"]) == 3
        assert len(row["steps"]) == 2
        (entity,) = home.alfred.talk.entities(home.session)
        assert (entity.id, entity.state, entity.persisted) == (row["id"], EntityState.ACTIVE, True)
        # One transaction: one step of the journal wrote all of it, and one undo takes it back.
        run = home.alfred.studio.engine.load(home.alfred.talk.trace(home.session, 2)["run_id"])
        journal = home.alfred.studio.database.read(lambda c: load_journal(c, run))
        assert len([key for key in journal if "/write/" in f"/{key}"]) == 1
        # What the draft said is what is stored.
        assert row["name"] == PASTA["name"]
        assert [each["text"] for each in row["steps"]] == [e["text"] for e in PASTA["steps"]]
        assert [each["name"] for each in row["ingredients"]] == ["pasta", "tomato", "salt"]
        assert [each["quantity"] for each in row["ingredients"]] == [200, 3, None]
        for text in ("Boil the pasta — al dente.", "Toss “it” all."):
            assert text in drafted.message
        # The old name still leads there.
        await home.say("add temp_recipe_1 to Tuesday", "quick")
        await home.say("undo that")
        await home.say("undo that")
        assert await home.rows("recipes") == []


@pytest.mark.req("AL-15")
async def test_scenario_03_the_temporary_id_resolves_in_a_later_write(tmp_path: Path):
    made = Line(json=PASTA, prompt_type="act/generate", times=None)
    planned = {"op": "create", "table": "meal_plans",
               "records": [{"plan_date": "2026-05-26", "recipe_id": "temp_recipe_1"}]}  # fmt: skip
    later = Line(
        json={"goal": "Plan it", "steps": [step("write", "meal_plans", write=planned)]},
        prompt_type="think",
        matching="put the new dish",
    )
    lines = (later, LISTEN, plan(DRAFT), made, CHAT, silent_host, SUM)
    async with open_home(tmp_path, *lines) as home:
        await home.say("Make me a weeknight pasta", "create")
        await home.say("Save that")
        await home.say("put the new dish somewhere next week")
        (recipe,) = await home.rows("recipes")
        (meal,) = await home.rows("meal_plans")
        assert meal["recipe_id"] == recipe["id"]


DISHES = ("Greek Salad", "Lentil Soup", "Bean Salad", "Rice Bowl", "Bean Stew")


def week(request: ModelRequest) -> Line | None:
    """Plan a salad unless told why not."""
    if request.prompt_type != "act/generate":
        return None
    dish = "Rice Bowl" if "## What Went Wrong" in request.prompt_text else "Greek Salad"
    entries = [{"date": "2026-05-25", "meal_type": "dinner", "recipe_ref": dish}]
    return Line(json={"entries": entries})


def without_own_words(prompt: str) -> str:
    return prompt.replace("no salads", "").replace("avoid: salads", "")


@pytest.mark.req("AL-13", "AL-22", "AL-23", "AL-33", "AL-06", "AL-35", "AL-01")
async def test_scenario_04_no_salads(tmp_path: Path):
    read = step("read", "recipes", query={"table": "recipes", "include": ["ingredients", "tags"]})
    dinner = step("generate", "meal_plans", 1, content_type="meal_plan")
    lines = (LISTEN, plan(read, dinner), week, CHAT, silent_host, SUM)
    async with open_home(tmp_path, *lines) as home:
        await home.alfred.set_profile(home.who, {"cooking_frequency": "daily"})
        await home.add("recipes", *(simple_recipe(dish) for dish in DISHES))
        await home.say("show my recipes", "quick")
        assert len(home.states()) == 5
        first = home.alfred.talk.entities(home.session)[0].label
        said = await home.say("no salads")
        assert home.states() == {
            dish: "inactive" if "Salad" in dish else "active" for dish in DISHES
        }
        assert "Greek Salad" in said.message
        before = len(home.script.calls)
        planned = await home.say("work out a dinner for Monday", "plan")
        assert planned.action == "respond", planned.message
        assert "Salad" not in planned.message
        later = home.prompts()[before:]
        assert later
        for prompt in later:
            for label in ("Greek Salad", "Bean Salad"):
                assert label not in without_own_words(prompt)
        assert any("Rice Bowl" in prompt for prompt in later)
        assert await home.names("recipes") == sorted(DISHES)
        back = await home.say("actually, that first recipe")
        assert first in back.message
        assert home.states()[first] == "active"


@pytest.mark.req("AL-06", "AL-35")
async def test_scenario_04_the_turn_after_a_rejected_recipe_is_revived(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await home.add("recipes", *(simple_recipe(dish) for dish in DISHES))
        await home.say("show my recipes", "quick")
        order = [each.label for each in home.alfred.talk.entities(home.session)]
        await home.say("no salads")
        await home.say("actually, that first recipe")
        assert home.states()[order[0]] == "active"
        salads = [dish for dish in order if "Salad" in dish and dish != order[0]]
        assert all(home.states()[dish] == "inactive" for dish in salads)


@pytest.mark.req("AL-07", "AL-08", "AL-14", "AL-40")
async def test_scenario_05_ageing(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await home.add("recipes", simple_recipe("Old Soup"), simple_recipe("Green Salad"))
        await home.say("how do I make Old Soup", "quick")
        seen = {1: home.states()}
        messages = {
            2: "how do I make Green Salad",
            3: "no salads",
            # A turn that only asks ages as any other.
            4: "clear my shopping list",
            5: "add bread",
            6: "add butter",
            7: "add tea",
            8: "add jam",
        }
        await home.add("shopping_items", {"name": "rice"}, {"name": "peas"})
        for turn, message in messages.items():
            said = await home.say(message)
            assert said.turn == turn
            seen[turn] = home.states()
        assert [seen[turn].get("Old Soup") for turn in range(1, 9)] == [
            *["active"] * 5, "inactive", "inactive", None,
        ]  # fmt: skip
        assert [seen[turn].get("Green Salad") for turn in range(1, 6)] == [
            None, "active", "inactive", "inactive", None,
        ]  # fmt: skip
        assert await home.names("recipes") == ["Green Salad", "Old Soup"]
        # Why each went is only in the log.
        told = home.alfred.talk.entity_events(home.session)
        assert {each.turn for each in told} >= {1, 2, 3, 5, 6, 8}


@pytest.mark.req("AL-28", "AL-110", "AL-114")
async def test_scenario_05_prompts_stay_as_they_were(tmp_path: Path):
    counter = OfflineTokenCounter()
    async with open_home(tmp_path, LISTEN, CHAT, silent_host, SUM) as home:
        home.seed()
        sizes: dict[int, int] = {}
        dishes = ["Butter Chicken", "Shakshuka", "Dal Tadka", "Porridge", "Greek Salad"]
        for turn in range(1, 201):
            before = len(home.script.calls)
            if turn in (5, 30, 200):
                await home.say("tell me what you think about that dish please")
                asked = [c for c in home.script.calls[before:] if c.request.prompt_type == "quick"]
                sizes[turn] = counter.count(asked[0].prompt)
            else:
                await home.say(f"how do I make {dishes[turn % 5]}", "quick")
        assert abs(sizes[30] - sizes[5]) <= sizes[5] * 0.1, sizes
        assert abs(sizes[200] - sizes[5]) <= sizes[5] * 0.1, sizes
