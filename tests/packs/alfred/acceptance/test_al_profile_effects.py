"""What somebody said once decides what they get: days, tasks, links, instructions, lists."""

from pathlib import Path
from typing import Any

import pytest
from alfred_home import Home, open_home

pytestmark = pytest.mark.anyio

TOAST = {
    "name": "Toast",
    "servings": 2,
    "ingredients": [{"ingredient": "bread", "quantity": 2}],
    "steps": ["Slice the bread.", "Toast it."],
}
TOMORROW = "2026-05-21"


async def set_profile(home: Home, **values: Any) -> None:
    await home.alfred.set_profile(home.who, values)


async def plan_toast(home: Home) -> None:
    await home.add("recipes", TOAST)
    await home.say(f"plan toast for dinner on {TOMORROW}", "quick")


@pytest.mark.req("AL-80")
@pytest.mark.parametrize(
    ("detail", "tasks"),
    [
        ("minimal", ["Cook Toast"]),
        ("reminders", ["Reminder: Toast"]),
        ("detailed", ["Toast: Slice the bread.", "Toast: Toast it."]),
    ],
)
async def test_the_tasks_of_a_meal_are_as_detailed_as_wanted(
    tmp_path: Path, detail: str, tasks: list[str]
):
    async with open_home(tmp_path, small=True) as home:
        await set_profile(home, task_granularity=detail)
        await plan_toast(home)
        told = await home.say("make tasks for tomorrow's dinner", "quick")
        rows = await home.rows("tasks")
        assert sorted(row["description"] for row in rows) == tasks
        assert all(str(row["due_at"]).startswith(TOMORROW) for row in rows)
        assert detail in told.message
        again = await home.say("add reminders for the meal plan", "quick")
        assert "has no tasks yet" in again.message
        assert len(await home.rows("tasks")) == len(tasks)
        await home.say("undo that", "quick")
        assert await home.rows("tasks") == []


@pytest.mark.req("AL-80")
async def test_a_reminder_of_something_else_stays_one(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await home.say("remind me about the dentist on Friday", "quick")
        assert [row["description"] for row in await home.rows("tasks")] == ["the dentist"]


@pytest.mark.req("AL-80", "AL-78")
@pytest.mark.parametrize(
    ("frequency", "count", "habit"),
    [("weekends_only", 2, "on weekends"), ("3x_week", 3, "three times"), ("daily", 7, "every day")],
)
async def test_a_week_has_as_many_dinners_as_somebody_cooks(
    tmp_path: Path, frequency: str, count: int, habit: str
):
    async with open_home(tmp_path, small=True) as home:
        home.seed()
        await set_profile(home, cooking_frequency=frequency)
        proposed = await home.say("plan dinners for next week", "plan")
        assert habit in proposed.message
        assert proposed.action == "propose"
        await home.say("yes")
        days = sorted(str(row["plan_date"]) for row in await home.rows("meal_plans"))
        assert len(set(days)) == count
        if frequency == "weekends_only":
            assert days == ["2026-05-30", "2026-05-31"]


@pytest.mark.req("AL-80")
async def test_a_link_needs_a_name_and_an_address_only(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await set_profile(home, recipe_storage="links_only", allergies=["nuts"])
        asked = await home.say("save https://cakes.example/lemon?x=1", "quick")
        assert "What is it called?" in asked.message
        told = await home.say("save https://cakes.example/lemon?x=1 as Lemon Cake", "quick")
        assert "in full" not in told.message
        (row,) = await home.rows("recipes")
        assert (row["name"], row["storage"]) == ("Lemon Cake", "link")
        assert row["source_url"] == "https://cakes.example/lemon?x=1"
        # Nobody knows what is in it.
        found = await home.say("what can I make with what I have?", "explore")
        assert "Lemon Cake" not in found.message
        await set_profile(home, recipe_storage="full")
        told = await home.say("add the recipe Plum Tart from https://cakes.example/plum", "quick")
        assert "in full" in told.message
        assert await home.names("recipes") == ["Lemon Cake", "Plum Tart"]


@pytest.mark.req("AL-80")
@pytest.mark.parametrize(("style", "has_steps"), [("ingredients_only", False), ("detailed", True)])
async def test_instructions_are_left_out_if_wanted(tmp_path: Path, style: str, has_steps: bool):
    async with open_home(tmp_path, small=True) as home:
        await set_profile(home, recipe_generation=style)
        await home.say("make me a weeknight pasta", "create")
        await home.say("save that")
        (row,) = await home.rows("recipes", include=["ingredients", "steps"])
        assert row["ingredients"]
        assert bool(row["steps"]) is has_steps


@pytest.mark.req("AL-89", "AL-104")
async def test_a_plan_whose_draft_failed_is_told_and_not_offered(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await set_profile(home, cooking_frequency="daily")
        told = await home.say("plan dinners for next week", "plan")
        assert told.action == "respond"
        assert told.pending_proposal is None
        assert "Shall I" not in told.message
        assert "Not done: Plan dinners" in told.message
        await home.say("yes")
        assert await home.rows("meal_plans") == []


@pytest.mark.req("AL-150")
async def test_a_scaled_recipe_is_told_in_whole_numbers(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await home.add("recipes", TOAST)
        told = await home.say("scale toast for 6", "quick")
        assert "6.0" not in told.message
        assert "6" in told.message


async def test_a_meal_that_was_moved_is_found_by_its_new_day(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await plan_toast(home)
        await home.say("move tomorrow's dinner to next Friday", "quick")
        (row,) = await home.rows("meal_plans")
        assert row["plan_date"] == "2026-05-29"
        assert "Toast" in (await home.say("what's for dinner on Friday?", "quick")).message
        assert "Toast" in (await home.say("what's for dinner next Friday?", "quick")).message
        assert "Toast" not in (await home.say("what's for dinner this Friday?", "quick")).message
