"""For how many a recipe is: what nobody said stays unknown, is asked for, is never scaled by."""

from pathlib import Path

import pytest
from alfred_home import open_home

from callboard.packs.alfred.exchange import export_recipes, import_recipes

pytestmark = pytest.mark.anyio

HUMMUS = """# Hummus

## Ingredients

- 1 can chickpeas, drained (save the liquid!!)
- 2-3 tbsp tahini

## Directions

1. Blend.
"""
COOKIES = """# Oat cookies

Makes 24 cookies

## Ingredients

- 200 g oats
- 100 g butter

## Directions

1. Bake.
"""
ROLLS = """# Rolls

Serves 4-6

## Ingredients

### Dough

- 500 g flour
- 80 g butter

### Filling

- 100 g butter

## Directions

1. Bake.
"""


async def test_an_import_without_servings_has_none_and_scaling_asks(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await import_recipes(home.alfred, home.who, HUMMUS)
        (stored,) = await home.rows("recipes")
        assert stored["servings"] is None
        asked = await home.say("scale hummus to 6", "quick")
        assert asked.action != "respond"
        assert "For how many is it as written?" in asked.message
        told = await home.say("it's for 3")
        assert "2 can chickpeas" in told.message or "2 cans chickpeas" in told.message
        (stored,) = await home.rows("recipes")
        assert stored["servings"] == 3


async def test_what_nobody_knows_is_shown_as_written(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await import_recipes(home.alfred, home.who, HUMMUS)
        await home.say("scale hummus to 6", "quick")
        told = await home.say("no idea")
        assert "as written" in told.message
        assert "1 can chickpeas" in told.message
        assert (await home.rows("recipes"))[0]["servings"] is None


async def test_at_the_stove_a_recipe_without_servings_is_cooked_as_written(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await import_recipes(home.alfred, home.who, HUMMUS)
        told = await home.say("I'm making hummus", "cook")
        assert "Cooking Hummus as written." in told.message
        # The words of the line stand beside what was read of it.
        assert "[2-3 tbsp tahini]" in told.message
        cooking = home.alfred.cooking(home.session)
        assert cooking is not None and cooking.servings is None
        await home.say("done")
        (logged,) = await home.rows("cooking_log")
        assert logged["servings"] is None


async def test_at_the_stove_for_some_people_it_is_asked_first(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await import_recipes(home.alfred, home.who, HUMMUS)
        asked = await home.say("I'm making hummus for 8", "cook")
        assert "For how many is it as written?" in asked.message
        assert home.alfred.cooking(home.session) is None
        told = await home.say("4")
        assert "Cooking Hummus for 8." in told.message
        assert "2 cans chickpeas" in told.message or "2 can chickpeas" in told.message


async def test_what_a_recipe_makes_is_not_for_how_many_it_is(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await import_recipes(home.alfred, home.who, COOKIES)
        (stored,) = await home.rows("recipes")
        assert (stored["servings"], stored["yields"]) == (None, "24 cookies")
        shown = await home.say("show me the recipe for oat cookies")
        assert "makes 24 cookies" in shown.message
        # So many times needs no number of people.
        assert "400 g oats" in (await home.say("double the oat cookies")).message
        texts = await export_recipes(home.alfred.kitchen, home.who)
        assert "Makes: 24 cookies" in texts["Oat cookies"]


async def test_a_range_and_two_lists_are_kept_apart(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await import_recipes(home.alfred, home.who, ROLLS)
        (stored,) = await home.rows("recipes", include=["ingredients"])
        assert (stored["servings"], stored["yields"]) == (4, "4-6 servings")
        told = (await home.say("show me the recipe for rolls")).message
        assert told.index("Dough:") < told.index("80 g butter") < told.index("Filling:")
        assert "100 g butter" in told
        assert "180 g butter" not in told
        texts = await export_recipes(home.alfred.kitchen, home.who)
        assert "Servings: 4-6" in texts["Rolls"]
        assert "### Filling" in texts["Rolls"]


async def test_a_planned_meal_is_bought_as_written_and_says_so(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await home.say("we are 4 people")
        await import_recipes(home.alfred, home.who, HUMMUS)
        await home.say("plan hummus for friday")
        await home.write(
            op="update",
            table="meal_plans",
            filters=[{"field": "meal_type", "op": "eq", "value": "dinner"}],
            set={"servings": 4},
        )
        told = await home.say("what do I need to buy for this week")
        assert "nobody knows for how many" in told.message
        assert "hummus" in told.message.casefold()


async def test_done_next_goes_on_and_takes_nothing_from_stock(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await home.add("inventory_items", {"ingredient": "chickpeas", "quantity": 3, "unit": "can"})
        await import_recipes(home.alfred, home.who, HUMMUS)
        await home.say("I'm making hummus", "cook")
        for said in ("ok done, next", "done. what's next?", "chickpeas are in. now what"):
            told = await home.say(said)
            assert "Step 1 of 1" in told.message or "last step" in told.message
        assert await home.rows("cooking_log") == []
        assert (await home.rows("inventory_items"))[0]["quantity"] == 3
