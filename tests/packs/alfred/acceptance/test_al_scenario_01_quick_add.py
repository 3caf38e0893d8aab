"""Scenarios 1 and 10: a quick change is one line, and the mode is the user's."""

from pathlib import Path

import pytest
from alfred_home import CHAT, LISTEN, SUM, open_home, silent_host

from callboard.packs.alfred.kitchen.domain import Kitchen

pytestmark = pytest.mark.anyio


@pytest.mark.req("AL-31", "AL-54", "AL-141", "AL-102")
@pytest.mark.parametrize("small", [False, True])
async def test_scenario_01_quick_add(tmp_path: Path, small: bool):
    lines = () if small else (LISTEN, CHAT, silent_host, SUM)
    async with open_home(tmp_path, *lines, small=small) as home:
        for message in ("Add eggs to my shopping list", "add 6 eggs"):
            before = len(home.script.calls)
            said = await home.say(message, "quick")
            asked = home.asked()[before:]
            assert len(asked) <= 3
            assert "think" not in asked
            assert said.action == "respond"
            assert "?" not in said.message
            assert len(said.message.splitlines()) == 1
        (row,) = await home.rows("shopping_items")
        assert (row["name"], row["quantity"], row["status"]) == ("eggs", 6, "needed")
        egg = {"field": "ingredient.name", "op": "eq", "value": "Egg"}
        assert len(await home.rows("shopping_items", filters=[egg])) == 1


@pytest.mark.req("AL-68", "AL-67", "AL-74", "AL-89")
@pytest.mark.parametrize("small", [False, True])
async def test_scenario_10_mode_respected(tmp_path: Path, small: bool):
    lines = () if small else (LISTEN, CHAT, silent_host, SUM)
    async with open_home(tmp_path, *lines, small=small) as home:
        home.seed()
        done = await home.say("Add milk to my shopping list", "plan")
        assert (done.action, done.pending_proposal, done.mode) == ("respond", None, "plan")
        assert "milk" in await home.names("shopping_items")
        assert home.alfred.talk.mode(home.session) == "plan"
        suggested = await home.say("plan my whole month", "quick")
        assert (suggested.action, suggested.mode) == ("respond", "quick")
        assert suggested.mode_suggestion == "plan"
        assert suggested.message.count("switch") == 1
        assert suggested.message.splitlines()[0] != suggested.message.splitlines()[-1]
        assert home.alfred.talk.mode(home.session) == "quick"
        again = await home.say("plan my whole month")
        assert (again.mode, again.mode_suggestion) == ("quick", None)
        assert "switch" not in again.message
        accepted = await home.say("yes, switch")
        assert "Plan" in accepted.message
        assert home.alfred.talk.mode(home.session) == "plan"


@pytest.mark.req("AL-69", "AL-71")
async def test_quick_is_what_a_new_user_gets_and_four_modes_have_buttons(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        kitchen = home.alfred.kitchen
        assert isinstance(kitchen, Kitchen)
        buttons = [mode.title for mode in kitchen.modes() if mode.has_button]
        assert buttons == ["Quick", "Cooking", "Plan", "Create"]
        assert (await home.say("add milk")).mode == "quick"
        assert kitchen.modes()[0].name == "quick"
        assert (await home.say("add bread", "explore")).mode == "explore"
