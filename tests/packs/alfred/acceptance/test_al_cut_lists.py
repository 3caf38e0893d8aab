"""A list that is cut says how to see the rest, and that works."""

from pathlib import Path

import pytest
from alfred_home import open_home

pytestmark = pytest.mark.anyio


async def test_more_shows_the_rest_of_a_list(tmp_path: Path):
    names = [f"thing {number:02}" for number in range(75)]
    async with open_home(tmp_path, small=True) as home:
        await home.add("shopping_items", *({"name": name} for name in names[:40]))
        await home.add("shopping_items", *({"name": name} for name in names[40:]))
        first = (await home.say("show my shopping list")).message
        assert "say “more” to see them" in first
        second = (await home.say("more")).message
        assert "say “more” to see them" in second
    # What is left to show is remembered when the project is opened again.
    async with open_home(tmp_path, small=True) as home:
        third = (await home.say("show me the rest")).message
        assert "more" not in third
        told = "\n".join([first, second, third])
        assert [name for name in names if name not in told] == []


async def test_all_names_of_a_change_are_told(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        told = await home.say(
            "add milk, eggs, flour, sugar, rice, tea, salt, oats to my list", "quick"
        )
        said = told if told.action == "respond" else await home.say("yes")
        assert "oats" in said.message
        assert "more" not in said.message
