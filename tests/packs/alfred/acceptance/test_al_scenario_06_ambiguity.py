"""Scenarios 6 and 7: questions and proposals wait, survive a restart, and write nothing before."""

from pathlib import Path
from typing import Any

import pytest
from alfred_home import (
    CHAT,
    LISTEN,
    SUM,
    Home,
    open_home,
    plan,
    silent_host,
    simple_recipe,
    step,
)

from callboard.models import Line, ModelRequest

pytestmark = pytest.mark.anyio

PASTAS = ("Tomato Pasta", "Cream Pasta")


async def ask_which(home: Home) -> list[str]:
    await home.add("recipes", *(simple_recipe(dish) for dish in PASTAS))
    await home.alfred.set_profile(home.who, {"cooking_frequency": "3x_week"})
    await home.say("show my recipes", "quick")
    asked = await home.say("add that one to Tuesday", "plan")
    assert asked.action == "clarify"
    assert asked.pending_clarification is not None
    assert asked.message.count("?") == 1
    assert all(dish in asked.message for dish in PASTAS)
    assert await home.rows("meal_plans") == []
    return [option.label for option in asked.pending_clarification.options]


async def take_second(home: Home, options: list[str]) -> None:
    said = await home.say("the second")
    assert said.action == "respond"
    assert "?" not in said.message
    assert (said.pending_clarification, said.pending_proposal) == (None, None)
    assert said.turn == 3
    (meal,) = await home.rows("meal_plans", include=["recipe"])
    assert (meal["plan_date"], meal["meal_type"]) == ("2026-05-26", "dinner")
    assert meal["recipe"]["name"] == options[1]


@pytest.mark.req("AL-82", "AL-83", "AL-86", "AL-25", "AL-26", "AL-36")
@pytest.mark.parametrize("small", [False, True])
async def test_scenario_06_ambiguity(tmp_path: Path, small: bool):
    lines = () if small else (LISTEN, CHAT, silent_host, SUM)
    async with open_home(tmp_path, *lines, small=small) as home:
        await take_second(home, await ask_which(home))


@pytest.mark.req("AL-41", "AL-86")
@pytest.mark.parametrize("small", [False, True])
async def test_scenario_06_a_restart_between_question_and_answer(tmp_path: Path, small: bool):
    lines = () if small else (LISTEN, CHAT, silent_host, SUM)
    async with open_home(tmp_path, *lines, small=small) as home:
        options = await ask_which(home)
        session = home.session
    async with open_home(tmp_path, *lines, small=small) as home:
        home.session = session
        await take_second(home, options)


@pytest.mark.req("AL-86", "AL-85")
async def test_scenario_06_a_planner_goes_on_with_the_first_intent(tmp_path: Path):
    """Where code cannot route it, the answer goes to Think with what was wanted first."""

    def think(request: ModelRequest) -> Line | None:
        if request.prompt_type != "think":
            return None
        assert "pair that one with something" in request.prompt_text
        assert chosen[0] in request.prompt_text
        assert chosen[1] not in request.prompt_text
        made = {"op": "create", "table": "meal_plans",
                "records": [{"plan_date": "2026-05-26", "note": "paired"}]}  # fmt: skip
        return plan(step("write", "meal_plans", write=made))

    chosen: list[str] = []
    async with open_home(tmp_path, LISTEN, think, CHAT, silent_host, SUM) as home:
        await home.add("recipes", *(simple_recipe(dish) for dish in PASTAS))
        await home.alfred.set_profile(home.who, {"cooking_frequency": "3x_week"})
        await home.say("show my recipes", "quick")
        asked = await home.say("pair that one with something on Tuesday", "plan")
        assert asked.action == "clarify"
        assert "think" not in home.asked()
        assert asked.pending_clarification is not None
        options = [each.label for each in asked.pending_clarification.options]
        chosen += [options[1], options[0]]
        done = await home.say("the second")
        assert done.action == "respond"
        assert [row["note"] for row in await home.rows("meal_plans")] == ["paired"]


DISHES = ("Soup", "Stew", "Rice Bowl", "Bake", "Curry")
READS = (
    step("read", "recipes", query={"table": "recipes", "include": ["ingredients", "tags"]}),
    step("read", "inventory", query={"table": "inventory_items", "include": ["ingredient"]}),
)
WEEK = plan(
    *READS,
    step("generate", "meal_plans", 1, content_type="meal_plan", description="Plan the dinners"),
    step(
        "analyze", "shopping", 2, compute="aggregate_shopping",
        inputs=["g0.s0", "g0.s1", "g1.s0"],
    ),
    step(
        "write", "meal_plans", 3, description="Save the plan", inputs=["g1.s0"],
        write={"op": "upsert", "table": "meal_plans", "from_content": "g1.s0"},
    ),
    goal="Dinners for next week",
)  # fmt: skip


def dinners(request: ModelRequest) -> Line | None:
    if request.prompt_type != "act/generate":
        return None
    count = 4 if "make it 4" in request.prompt_text.casefold() else 3
    entries: list[Any] = [
        {"date": f"2026-05-2{5 + number}", "recipe_ref": DISHES[number]} for number in range(count)
    ]
    return Line(json={"entries": entries})


async def propose(home: Home) -> None:
    await home.alfred.set_profile(home.who, {"cooking_frequency": "3x_week", "week_start": "mon"})
    await home.add("recipes", *(simple_recipe(dish, "rice", "leek") for dish in DISHES))
    await home.add("inventory_items", {"ingredient": "rice"})
    asked = await home.say("Plan dinners for next week", "plan")
    assert asked.action == "propose"
    assert asked.pending_proposal is not None
    assert asked.pending_proposal.affected[0].count == 3
    days = [line for line in asked.message.splitlines() if "2026-05-" in line and "dinner:" in line]
    assert len(days) == 3
    assert "leek" in asked.message
    assert await home.rows("meal_plans") == []


@pytest.mark.req("AL-46", "AL-86", "AL-89", "AL-90", "AL-87")
@pytest.mark.parametrize("small", [False, True])
async def test_scenario_07_plan_a_week(tmp_path: Path, small: bool):
    lines = () if small else (LISTEN, WEEK, dinners, CHAT, silent_host, SUM)
    async with open_home(tmp_path, *lines, small=small) as home:
        await propose(home)
        more = await home.say("Make it 4")
        assert more.action == "propose"
        assert more.pending_proposal is not None
        assert more.pending_proposal.affected[0].count == 4
        assert await home.rows("meal_plans") == []
        before = len(home.script.calls)
        done = await home.say("Yes")
        assert done.action == "respond"
        assert "think" not in home.asked()[before:]
        rows = await home.rows("meal_plans", include=["recipe"])
        assert len(rows) == 4
        assert len({row["plan_date"] for row in rows}) == 4
        assert {row["recipe"]["name"] for row in rows} <= set(DISHES)
        assert all("2026-05-25" <= row["plan_date"] <= "2026-05-31" for row in rows)


@pytest.mark.req("AL-90")
@pytest.mark.parametrize("small", [False, True])
async def test_scenario_07_no_saves_nothing_and_says_so(tmp_path: Path, small: bool):
    lines = () if small else (LISTEN, WEEK, dinners, CHAT, silent_host, SUM)
    async with open_home(tmp_path, *lines, small=small) as home:
        await propose(home)
        said = await home.say("No")
        assert "nothing was saved" in said.message.casefold()
        assert await home.rows("meal_plans") == []
        assert said.pending_proposal is None


@pytest.mark.req("AL-41", "AL-86")
async def test_scenario_07_the_yes_may_come_after_a_restart(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await propose(home)
        session = home.session
    async with open_home(tmp_path, small=True) as home:
        home.session = session
        await home.say("Yes")
        assert len(await home.rows("meal_plans")) == 3
