"""A timer at the stove rings: at the next turn, over HTTP, in a chat, after a restart, and once."""

from pathlib import Path

import pytest
from alfred_home import Clock, open_home

pytestmark = pytest.mark.anyio

SOUP = {
    "name": "Soup",
    "servings": 2,
    "ingredients": [{"ingredient": "leek", "quantity": 2}],
    "steps": ["Boil the leek.", "Stir."],
}
MINUTE = 60_000


@pytest.mark.req("AL-75")
async def test_a_timer_rings_once_at_the_next_turn_after_a_restart_too(tmp_path: Path):
    clock = Clock()
    async with open_home(tmp_path, small=True, clock=clock) as home:
        await home.add("recipes", SOUP)
        await home.say("I'm making soup", "cook")
        await home.say("next")
        assert "Timer set: 10 min" in (await home.say("timer 10 minutes")).message
        await home.say("timer 30 minutes")
        clock.ms += 9 * MINUTE
        assert "Ring" not in (await home.say("ingredients")).message
        assert await home.alfred.ring(home.session) == []
    clock.ms += 2 * MINUTE
    async with open_home(tmp_path, small=True, clock=clock) as home:
        told = (await home.say("repeat")).message
        assert told.startswith("Ring! The 10 min timer for Soup is up (step 1: Boil the leek.)")
        assert "Step 1 of 2" in told
        assert "Ring" not in (await home.say("next")).message
        clock.ms += 30 * MINUTE
        (rung,) = await home.alfred.ring(home.session)
        assert "30 min" in rung
        assert await home.alfred.ring(home.session) == []
