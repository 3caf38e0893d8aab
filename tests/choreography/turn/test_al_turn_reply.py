"""Replies: nothing internal, nothing invented, failures always told."""

import pytest
from tiny_domain import TinyDomain
from turn_parlour import Parlours

from callboard.choreography.turn.replying.facts import Drafted, Listing, ReplyFacts
from callboard.choreography.turn.replying.wording import (
    clean,
    fits,
    is_truthful,
    with_draft_words,
    with_failures,
)
from callboard.testing import Line

pytestmark = pytest.mark.anyio


@pytest.mark.req("AL-104")
def test_ids_tables_and_data_formats_are_taken_out():
    text = 'Added row-0001 to shopping_items: {"id": 1} see g0.s0.id and temp_recipe_3.'
    said = clean(text, {"row-0001": "Milk"}, ["shopping_items"])
    assert said == "Added Milk to shopping items: see and the draft."
    labels = {"temp_soup_1": "Soup", "temp_soup_10": "Stew"}
    assert clean("temp_soup_10 or temp_soup_1", labels, []) == "Stew or Soup"


@pytest.mark.req("AL-104")
def test_numbers_come_from_the_facts_and_failures_are_told():
    facts = ReplyFacts(done=["Added 3 eggs"], not_done=["Update the list (it is locked)"])
    assert is_truthful("1. You now have 3 eggs", facts, "add eggs")
    assert not is_truthful("You now have 12 eggs", facts, "add eggs")
    assert with_failures("All good.", facts).endswith("Not done: Update the list (it is locked).")
    told = "Not done: I could not update the list."
    assert with_failures(told, facts) == told
    assert "Update the list" in with_failures("Not done: nothing.", facts)


@pytest.mark.req("AL-105")
def test_drafts_say_so_long_lists_are_counted_and_quick_is_short():
    facts = ReplyFacts(drafts=[Drafted("Soup", "Soup")])
    assert "save that" in with_draft_words("Here is a soup.", facts, "A draft: save that")
    lines = tuple(f"- {number}" for number in range(30))
    text = Listing("Things (45):", lines, 45).text()
    assert text.count("\n- ") == 20
    assert text.endswith("… and 25 more: say “more” to see them")
    assert not fits("word " * 61, is_terse=True)
    assert fits("- word\n" * 100, is_terse=True)
    assert fits("word " * 61, is_terse=False)


@pytest.mark.req("AL-101", "AL-103", "AL-104")
async def test_a_model_that_makes_numbers_up_is_not_listened_to(
    tiny: TinyDomain, parlour_of: Parlours
):
    tiny.seed("ann", "documents", "Budget")
    plan = {
        "goal": "Look",
        "steps": [
            {
                "description": "Read",
                "step_type": "read",
                "subdomain": "files",
                "query": {"table": "documents"},
            },
            {"description": "Judge", "step_type": "analyze", "subdomain": "files", "group": 1},
        ],
    }
    lines = (
        Line(json=plan, prompt_type="think"),
        Line(json={"analysis": "One is there.", "matches": []}, prompt_type="act/analyze"),
        Line("There are 17 documents.", prompt_type="reply"),
    )
    async with parlour_of(tiny, *lines) as parlour:
        said = await parlour.say("how many are there", mode="explore")
        assert "17" not in said.message
        assert "One is there." in said.message
        assert any("did not keep to the facts" in each for each in said.warnings)
        prompt = parlour.script.calls[-1].prompt
        assert "g0.s0" not in prompt
        assert len(said.calls) <= 5


@pytest.mark.req("AL-36", "AL-54", "AL-89")
async def test_on_a_small_model_code_routes_and_plans_and_no_model_is_asked(
    tiny: TinyDomain, parlour_of: Parlours
):
    small = {"models": {"default": "script", "catalog": {"script": {"tier": "minimal"}}}}
    async with parlour_of(tiny, flags=small) as parlour:
        assert parlour.studio.catalog.facts("script").tier.value == "minimal"
        asked = await parlour.say("plan my week", mode="plan")
        assert asked.action == "propose"
        assert tiny.names("tasks") == []
        assert (await parlour.say("make it 4")).action == "propose"
        await parlour.say("yes")
        assert tiny.names("tasks") == ["Day 1", "Day 2", "Day 3", "Day 4"]
        lost = await parlour.say("sing a song")
        assert "could not tell" in lost.message
        assert parlour.script.calls == []
