"""Quick turns: code routes, nothing is asked, one line comes back."""

import asyncio

import pytest
from tiny_domain import TinyDomain
from turn_parlour import Parlours, words_of

from callboard.choreography.turn.modes import UnknownTurnMode
from callboard.choreography.turn.thinking.deciding import ModelUnavailable
from callboard.choreography.turn.turn import Busy, MessageTooLong
from callboard.testing import Failure, Line

pytestmark = pytest.mark.anyio


@pytest.mark.req("AL-47", "AL-54", "AL-61", "AL-102", "AL-105", "AL-119")
async def test_an_addition_is_done_at_once_without_a_model(domain, parlour_of: Parlours):
    async with parlour_of(domain) as parlour:
        words = parlour.words
        done = await parlour.say(words.add.format("Budget"), mode="quick")
        assert done.action == "respond"
        assert "Budget" in done.message
        assert "\n" not in done.message
        assert done.calls == []
        assert await parlour.names(words.things) == ["Budget"]
        shown = await parlour.say(words.show)
        assert "- Budget" in shown.message
        assert (shown.turn, shown.mode) == (2, "quick")
        assert parlour.states()["Budget"] == "active"


@pytest.mark.req("AL-39")
async def test_a_second_message_meanwhile_is_refused_as_busy(domain, parlour_of: Parlours):
    held = Line(json={"steps": []}, prompt_type="quick", hold="thinking")
    async with parlour_of(domain, held, Line("Hello.", prompt_type="reply")) as parlour:
        first = asyncio.create_task(parlour.say("hello there", mode="quick"))
        await parlour.script.reached("thinking")
        adding = parlour.words.add.format("Budget")
        with pytest.raises(Busy, match="under way"):
            await parlour.say(adding)
        parlour.script.release("thinking")
        assert (await first).message == "Hello."
        assert await parlour.names(parlour.words.things) == []
        assert (await parlour.say(adding)).turn == 2


@pytest.mark.req("AL-144", "AL-39")
async def test_the_same_client_id_is_the_same_message(domain, parlour_of: Parlours):
    async with parlour_of(domain) as parlour:
        one = await parlour.say("add task Call", mode="quick", client_message_id="m1")
        two = await parlour.say("add task Call", mode="quick", client_message_id="m1")
        assert one == two
        assert await parlour.names("tasks") == ["Call"]


@pytest.mark.req("AL-66", "AL-71", "AL-72")
async def test_a_mode_is_chosen_by_the_message_the_session_then_the_profile(
    tiny: TinyDomain, parlour_of: Parlours
):
    tiny.default_mode = "create"
    async with parlour_of(tiny) as parlour:
        assert (await parlour.say("show tasks")).mode == "create"
        assert (await parlour.say("show tasks", mode="plan")).mode == "plan"
        assert (await parlour.say("show tasks")).mode == "plan"
        with pytest.raises(UnknownTurnMode, match="no mode 'hasty'"):
            await parlour.say("show tasks", mode="hasty")
        assert (await parlour.say("show tasks", mode="auto")).mode == "create"


@pytest.mark.req("AL-73")
async def test_nobody_chose_a_mode_and_no_model_is_asked(tiny: TinyDomain, parlour_of: Parlours):
    small = {"models": {"default": "script", "catalog": {"script": {"tier": "minimal"}}}}
    async with parlour_of(tiny, flags=small) as parlour:
        assert (await parlour.say("add task Call")).mode == "quick"
        assert (await parlour.say("what can I write about")).mode == "explore"
        assert (await parlour.say("plan my week")).mode == "plan"
        assert (await parlour.say("no")).mode == "plan"
        # A mode that the domain lacks is done by its first one.
        assert (await parlour.say("I'm cooking tonight")).mode == "quick"
        assert (await parlour.say("add task Call", mode="plan")).mode == "plan"
        assert (await parlour.say("add task Call again")).mode == "plan"
        assert parlour.script.calls == []


@pytest.mark.req("AL-67", "AL-74")
async def test_a_suggestion_is_made_once_and_switching_is_up_to_the_user(
    tiny: TinyDomain, parlour_of: Parlours
):
    chat = Line(json={"steps": []}, prompt_type="quick", times=None)
    async with parlour_of(tiny, chat, Line("Sure.", prompt_type="reply", times=None)) as parlour:
        first = await parlour.say("sort out my whole month", mode="quick")
        assert first.mode_suggestion == "plan"
        assert "Plan" in first.message
        assert first.mode == "quick"
        for _ in range(5):
            again = await parlour.say("sort out my whole month")
            assert (again.mode_suggestion, again.mode) == (None, "quick")
        later = await parlour.say("sort out my whole month")
        assert later.mode_suggestion == "plan"
        switched = await parlour.say("yes, switch")
        assert "Switched to Plan" in switched.message
        assert (await parlour.say("show tasks")).mode == "plan"


@pytest.mark.req("AL-68")
async def test_plan_mode_does_simple_things_at_once(domain, parlour_of: Parlours):
    advice = Line(json={}, prompt_type="understand", times=None)
    async with parlour_of(domain, advice) as parlour:
        done = await parlour.say("add task Buy milk", mode="plan")
        assert done.action == "respond"
        assert done.pending_proposal is None
        assert done.mode == "plan"
        assert await parlour.names("tasks") == ["Buy milk"]
        assert [call["node"] for call in done.calls] == ["understand"]


@pytest.mark.req("AL-104")
async def test_undo_takes_the_last_turn_back_and_says_so(domain, parlour_of: Parlours):
    async with parlour_of(domain) as parlour:
        await parlour.say("add task Call", mode="quick")
        undone = await parlour.talk.undo(parlour.session, parlour.who)
        assert undone.message.startswith("Undone")
        assert await parlour.names("tasks") == []
        nothing = await parlour.say("undo")
        assert "nothing to undo" in nothing.message


@pytest.mark.req("AL-54", "AL-104")
async def test_an_unsure_router_costs_one_call_for_both_meaning_and_steps(
    domain, parlour_of: Parlours
):
    steps = [
        {
            "description": "Add the task Water plants",
            "step_type": "write",
            "subdomain": words_of(domain).calendar,
            "write": {
                "op": "create",
                "table": "tasks",
                "records": [{"description": "Water plants"}],
            },
        }
    ]
    async with parlour_of(domain, Line(json={"steps": steps}, prompt_type="quick")) as parlour:
        done = await parlour.say("plants need water tomorrow", mode="quick")
        assert await parlour.names("tasks") == ["Water plants"]
        assert [call["node"] for call in done.calls] == ["quick"]
        assert len(done.calls) <= 3


async def test_a_message_may_not_be_endless(tiny: TinyDomain, parlour_of: Parlours):
    async with parlour_of(tiny) as parlour:
        with pytest.raises(MessageTooLong, match="8001"):
            await parlour.say("x" * 8001)


@pytest.mark.req("AL-30")
async def test_without_a_model_what_code_can_do_is_done_and_the_rest_changes_nothing(
    tiny: TinyDomain, parlour_of: Parlours
):
    down = Line(fail=Failure(503), times=None)
    async with parlour_of(tiny, down) as parlour:
        done = await parlour.say("add task Call", mode="plan")
        assert await parlour.names("tasks") == ["Call"]
        assert any("without a model" in each for each in done.warnings)
        with pytest.raises(ModelUnavailable):
            await parlour.say("invent something wonderful")
        assert [each["turn"] for each in parlour.talk.turns(parlour.session)] == [1]
        assert (await parlour.say("show tasks")).turn == 2


@pytest.mark.req("AL-142")
async def test_deleting_many_is_shown_first_in_every_mode(domain, parlour_of: Parlours):
    async with parlour_of(domain) as parlour:
        words = parlour.words
        for name in ("milk", "rice", "salt"):
            await parlour.say(words.add_cleared.format(name), mode="quick")
        asked = await parlour.say(words.clear)
        assert asked.action == "propose"
        assert asked.pending_proposal is not None
        assert "3" in asked.message
        assert "rice" in asked.message
        assert len(await parlour.names(words.cleared)) == 3
        done = await parlour.say("yes")
        assert done.action == "respond"
        assert "Removed" in done.message
        assert await parlour.names(words.cleared) == []
        await parlour.say("undo that")
        assert await parlour.names(words.cleared) == ["milk", "rice", "salt"]
