"""What is remembered how long, who sees it, and how much machinery a mode brings."""

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

from callboard.choreography.turn.requests import WriteError
from callboard.choreography.turn.shapes import UnderstandOutput
from callboard.models import Failure, Line, ModelRequest

pytestmark = pytest.mark.anyio

DRAFT = plan(step("generate", "recipes", content_type="recipe"))
SOUP: dict[str, Any] = {
    "name": "Leek Soup",
    "servings": 2,
    "ingredients": [{"name": "leek", "quantity": 2}],
    "steps": [{"text": "Boil."}],
}
MADE = Line(json=SOUP, prompt_type="act/generate", times=None)
THINKS = Line(
    json={"goal": "Talk", "steps": []},
    prompt_type="think",
    times=None,
)
READ = step("read", "recipes", query={"table": "recipes", "include": ["ingredients"]})


async def known(home: Home) -> None:
    await home.alfred.set_profile(home.who, {"cooking_frequency": "daily"})


@pytest.mark.req("AL-12", "AL-14")
async def test_what_is_of_a_turn_of_a_session_and_for_good(tmp_path: Path):
    async with open_home(tmp_path, LISTEN, DRAFT, MADE, CHAT, silent_host, SUM) as home:
        await known(home)
        await home.say("Make me a soup", "create")
        kept = await home.say("yes")
        # To keep a draft is to go on talking about it; it is not saved by that.
        assert home.states() == {"Leek Soup": "active"}
        assert await home.rows("recipes") == []
        assert "save that" in kept.message
        await home.say("no nuts")
        first = home.session
        home.session = (await home.alfred.studio.sessions.create()).id
        assert home.states() == {}
        assert home.alfred.talk.constraints(home.session) == []
        said = await home.say("show my recipes", "quick")
        assert "Leek Soup" not in said.message
        home.session = first
        await home.say("save that")
        home.session = (await home.alfred.studio.sessions.create()).id
        said = await home.say("show my recipes", "quick")
        assert "Leek Soup" in said.message
        profile = await home.alfred.kitchen.profile_row(home.who)
        assert profile["cooking_frequency"] == "daily"
        # Ids of steps are of their turn alone.
        assert all(each.step_id == "g0.s0" for each in said.steps)


@pytest.mark.req("AL-17")
async def test_places_of_plans_drafts_and_tasks(tmp_path: Path):
    async with open_home(tmp_path, LISTEN, DRAFT, MADE, CHAT, silent_host, SUM) as home:
        kitchen = home.alfred.kitchen
        meal = {"plan_date": "2026-05-26", "meal_type": "dinner", "position": 0}
        other = {**meal, "meal_type": "lunch"}
        assert kitchen.slot_for("meal_plan", meal) != kitchen.slot_for("meal_plan", other)
        assert kitchen.slot_for("task", {"description": "Boil eggs"}) is None
        await known(home)
        await home.say("Make me a soup", "create")
        await home.say("Make me a soup", "create")
        (one, two) = home.alfred.talk.entities(home.session)
        assert (one.slot, two.slot) == ("recipe:draft:1", "recipe:draft:2")
        assert {one.state.value, two.state.value} == {"pending"}


@pytest.mark.req("AL-18")
async def test_to_be_shown_is_not_to_be_mentioned(tmp_path: Path):
    async with open_home(tmp_path, LISTEN, CHAT, silent_host, SUM) as home:
        await home.add("recipes", simple_recipe("Old Soup"), simple_recipe("Old Stew"))
        await home.say("show my recipes", "quick")
        for _ in range(4):
            before = len(home.script.calls)
            await home.say("tell me about the weather and the moon please")
            assert any("Old Soup" in prompt for prompt in home.prompts("quick")[-1:])
            assert len(home.script.calls) > before
        assert {each.turn_last_ref for each in home.alfred.talk.entities(home.session)} == {1}
        # A question that is open holds what it is about.
        asked = await home.say("add that one to Tuesday", "plan")
        assert asked.action == "clarify"
        assert {each.turn_last_ref for each in home.alfred.talk.entities(home.session)} == {6}


@pytest.mark.req("AL-21", "AL-24", "AL-66", "AL-20")
async def test_to_understand_is_not_to_plan(tmp_path: Path):
    """Whatever a listener says of steps or modes: it resolves words, and that is all."""

    def listen(request: ModelRequest) -> Line | None:
        if request.prompt_type != "understand":
            return None
        return Line(json={
            "processed_message": "Judge the recipe Old Soup",
            "intent": {"kind": "cook", "summary": "wants to cook"},
            "referenced_entities": ["no-such-id"],
        })  # fmt: skip

    judged = Line(json={"analysis": "Good.", "matches": []}, prompt_type="act/analyze", times=None)
    judge = plan(READ, step("analyze", "recipes", 1))
    async with open_home(tmp_path, listen, judge, judged, CHAT, silent_host, SUM) as home:
        await known(home)
        await home.add("recipes", simple_recipe("Old Soup", notes="SECRET NOTE"))
        await home.say("show my recipes", "quick")
        said = await home.say("what do you make of the creamy one", "plan")
        assert said.mode == "plan"
        (heard,) = home.prompts("understand")
        for hidden in ("## Database Schema", "## Data to Analyze", "SECRET NOTE", "leek"):
            assert hidden not in heard
        assert "Old Soup" in heard
        (thought,) = home.prompts("think")
        assert "Judge the recipe Old Soup" in thought
        assert "no-such-id" not in thought
        fields = set(UnderstandOutput.model_fields)
        assert {"entity_updates", "referenced_entities", "needs_clarification",
                "clarification_questions", "clarification_reason",
                "processed_message"} <= fields  # fmt: skip
        assert not fields & {"steps", "plan", "mode", "entities"}


@pytest.mark.req("AL-40", "AL-37")
async def test_turns_that_ask_or_fail_age_too_and_call_no_model_for_it(tmp_path: Path):
    async with open_home(tmp_path, LISTEN, CHAT, silent_host, SUM) as home:
        await home.add("recipes", simple_recipe("Old Soup"), simple_recipe("Old Stew"))
        await home.say("show my recipes", "quick")
        await home.say("add milk")
        asked = await home.say("delete all my recipes")
        assert asked.action == "propose"
        assert home.asked() == []
        dropped = await home.say("no")
        assert "nothing was saved" in dropped.message
        failed = await home.say("rename Old Soup to Old Stew")
        assert failed.turn == 5
        assert "Not done" in failed.message
        await home.say("add tea")
        turns = home.alfred.talk.turns(home.session)
        assert [each["turn"] for each in turns] == [1, 2, 3, 4, 5, 6]
        assert all(each["status"] == "done" for each in turns)


@pytest.mark.req("AL-42")
async def test_every_call_goes_one_way_and_leaves_a_trace(tmp_path: Path):
    async with open_home(tmp_path, LISTEN, DRAFT, MADE, CHAT, silent_host, SUM) as home:
        await known(home)
        said = await home.say("Make me a soup", "create")
        assert [call["node"] for call in said.calls] == [
            "understand", "think", "act_generate", "reply",
        ]  # fmt: skip
        assert len(said.calls) == len(home.script.calls)
        for call in home.alfred.talk.trace(home.session, 1)["calls"]:
            assert call["mode"] == "create"
            assert call["input_tokens"] > 0
            assert call["output_tokens"] >= 0
            assert call["duration_ms"] >= 0
            assert len(str(call["prompt_hash"])) == 16


@pytest.mark.req("AL-70", "AL-81", "AL-102")
async def test_a_mode_decides_how_much_is_told_and_how(tmp_path: Path):
    said: dict[str, dict[str, str]] = {}
    judged = Line(json={"analysis": "Good.", "matches": []}, prompt_type="act/analyze", times=None)
    judge = plan(READ, step("analyze", "recipes", 1))
    for mode in ("explore", "plan", "create"):
        root = tmp_path / mode
        async with open_home(root, LISTEN, judge, judged, CHAT, silent_host, SUM) as home:
            await home.alfred.set_profile(
                home.who, {"allergies": ["sesame"], "equipment": ["wok"], "skill_level": "advanced"}
            )
            await home.add("recipes", simple_recipe("Old Soup"))
            await home.say("what do you think of my dishes", mode)
            said[mode] = {kind: home.prompts(kind)[0] for kind in ("think", "reply", "act/analyze")}
    verbosity = {"explore": "focused", "plan": "detailed", "create": "rich"}
    for mode, prompts in said.items():
        assert verbosity[mode] in prompts["reply"]
        assert all("sesame" in prompt for prompt in prompts.values()), mode
    assert ["wok" in said[mode]["think"] for mode in said] == [False, False, True]
    assert ["advanced" in said[mode]["think"] for mode in said] == [False, True, True]
    examples = [said[mode]["think"].partition("## Examples")[2].count("\n\n") for mode in said]
    assert examples[1] > examples[0] > examples[2] == 0


FIELDS: dict[str, tuple[Any, ...]] = {
    "cooking_frequency": ("weekends_only", "3x_week", "daily"),
    "batch_cooking": (True, False),
    "planning_horizon": ("week", "few_days", "day_of"),
    "recipe_storage": ("full", "links_only", "mixed"),
    "recipe_generation": ("detailed", "quick", "ingredients_only"),
    "task_granularity": ("detailed", "reminders", "minimal"),
    "list_organization": ("by_aisle", "by_category", "unorganized"),
}


@pytest.mark.req("AL-76", "AL-137")
async def test_the_profile_has_seven_fields_with_their_values(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        for name, values in FIELDS.items():
            for value in values:
                await home.alfred.set_profile(home.who, {name: value})
                assert (await home.alfred.kitchen.profile_row(home.who))[name] == value
            with pytest.raises(WriteError):
                await home.alfred.set_profile(home.who, {name: "whenever"})


@pytest.mark.req("AL-85", "AL-88", "AL-84", "AL-89")
async def test_to_ask_to_assume_to_propose_or_just_to_do_it(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await known(home)
        await home.add("recipes", *(simple_recipe(dish) for dish in ("Soup", "Stew", "Bake")))
        await home.say("show my recipes", "quick")
        # Not enough, and it matters.
        asked = await home.say("add that one to Tuesday", "plan")
        assert asked.action == "clarify"
        await home.say("no")
        # Not enough, and it does not matter much: done, and said.
        done = await home.say("add that one to Tuesday", "quick")
        assert done.action == "respond"
        assert "Assumed" in done.message
        assert len(await home.rows("meal_plans")) == 1
        # Enough, and much is to be written.
        asked = await home.say("plan dinners for next week", "plan")
        assert asked.action == "propose"
        await home.say("no")
        # Enough, and little.
        assert (await home.say("add milk to my shopping list", "plan")).action == "respond"
        # Nothing that destroys is assumed.
        unsure = await home.say("delete that recipe", "quick")
        assert unsure.action != "respond"


@pytest.mark.req("AL-107", "AL-108", "AL-106")
async def test_code_keeps_the_books_and_a_model_only_tells_the_story(tmp_path: Path):
    async with open_home(tmp_path, LISTEN, CHAT, silent_host, SUM) as home:
        await home.add("recipes", simple_recipe("Old Soup"))
        for message in ("show my recipes", "add 2 eggs to my shopping list", "add milk"):
            said = await home.say(message, "quick")
        assert home.asked() == ["summarize"]
        assert home.ids()["Old Soup"] == (await home.rows("recipes"))[0]["id"]
        assert said.steps[0].row_count == 1
        assert "milk" in said.steps[0].summary
        trace = home.alfred.talk.trace(home.session, 2)
        assert len(trace["actions"]) == 1
        assert "eggs" in trace["actions"][0]
        assert trace["calls"] == []


MESSAGES = [f"tell me something about number {'abcdefgh'[turn]} please" for turn in range(8)]


@pytest.mark.req("AL-110", "AL-111")
async def test_hot_warm_and_cold(tmp_path: Path):
    story = Line(
        json={"engagement_summary": "They asked about letters.", "key_decisions": []},
        prompt_type="summarize",
        times=None,
    )
    past = plan(
        step("read", "cooking_log", query={
            "table": "conversation_turns",
            "filters": [{"field": "user", "op": "search", "value": "number a"}],
        })
    )  # fmt: skip
    async with open_home(tmp_path, LISTEN, past, CHAT, silent_host, story) as home:
        await known(home)
        for message in MESSAGES[:6]:
            await home.say(message, "quick")
        home.script.calls.clear()
        await home.say("no salads")
        said = await home.say("what did I ask at the very beginning", "plan")
        (heard,) = home.prompts("understand")
        # Hot: the last two turns. Warm: what the older ones came to. Cold: everything else.
        assert MESSAGES[5] in heard
        assert "no salads" in heard
        assert MESSAGES[4] not in heard
        assert "They asked about letters." in heard
        (thought,) = home.prompts("think")
        assert "avoid: salads" in thought
        for message in MESSAGES:
            assert message not in thought
        assert MESSAGES[0] in str(said.steps[0].result["rows"])
        assert MESSAGES[1] not in str(said.steps[0].result["rows"])


@pytest.mark.req("AL-112")
async def test_a_story_that_cannot_be_told_fails_no_turn_and_is_tried_again(tmp_path: Path):
    broken = Line(prompt_type="summarize", fail=Failure(500, "down"), times=2)
    async with open_home(tmp_path, LISTEN, CHAT, silent_host, broken, SUM) as home:
        for number in range(5):
            said = await home.say(f"add item{number} to my shopping list", "quick")
            assert said.action == "respond"
        assert home.asked() == ["summarize"] * 3
        turns = home.alfred.talk.turns(home.session)
        assert [each["turn"] for each in turns] == [1, 2, 3, 4, 5]
        # Half an hour of silence ends a conversation, and what it avoided with it.
        await home.say("no salads")
        assert home.alfred.talk.constraints(home.session) == ["avoid:salads"]
        home.clock.ms += 31 * 60 * 1000
        await home.say("add tea to my shopping list")
        assert home.alfred.talk.constraints(home.session) == []
        ended = await home.alfred.talk.end(home.session, home.who)
        assert ended["ended"]
        assert len(home.alfred.talk.turns(home.session)) == 7
        assert len(await home.rows("shopping_items")) == 6
