"""The gate: with an allergy in the house nothing passes in silence, at whichever door."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from attempts import DAY, attempt_all, open_alfred, read_lines

from callboard.choreography.turn.requests import (
    ReadRequest,
    WriteError,
    WritePreview,
    WriteRequest,
)
from callboard.core.vocabulary import Receipt
from callboard.packs.alfred.kitchen.food.checking import Eater, check_for
from callboard.packs.alfred.kitchen.food.groups import allergens_in
from callboard.packs.alfred.project import KitchenProject
from callboard.tools import list_receipts
from sizes import size

pytestmark = pytest.mark.anyio
PAD_THAI = {
    "name": "Pad Thai",
    "servings": 2,
    "ingredients": ["200 g rice noodles", "50 g roasted peanuts"],
    "steps": ["Fry it all."],
}


def creating(table: str, record: dict[str, Any]) -> WriteRequest:
    return WriteRequest.model_validate({"op": "create", "table": table, "records": [record]})


async def refused(alfred: KitchenProject, request: WriteRequest) -> WritePreview:
    with pytest.raises(WriteError) as caught:
        await alfred.write(alfred.who(), request)
    assert caught.value.kind == "needs_confirmation"
    return WritePreview.model_validate(caught.value.context["preview"])


async def begin(alfred: KitchenProject, **limits: Any) -> str:
    """Store a dish, then put limits on file; return a conversation."""
    await alfred.write(alfred.who(), creating("recipes", PAD_THAI))
    await alfred.set_profile(alfred.who(), limits)
    return await alfred.new_session()


async def rows(alfred: KitchenProject, table: str) -> list[dict[str, Any]]:
    request = ReadRequest.model_validate({"table": table})
    return list((await alfred.kitchen.read(alfred.who(), request)).rows)


# Nobody can know that "English, made up" is a mustard.
UNKNOWABLE = "'Roast beef baps'"


FILES = ("attempts_dev.jsonl", "attempts_held.jsonl")


@pytest.mark.parametrize("name", FILES)
def test_every_attempt_is_seen_in_what_is_written(name: str) -> None:
    """All of them by the one check that every door passes; links and sentences need the doors."""
    missed: list[str] = []
    alarmed: list[str] = []
    tried = 0
    for attempt in read_lines(name):
        if attempt["where"] in ("message", "link"):
            continue
        tried += 1
        recipe = attempt["recipe"]
        lines = [{"raw_text": line} for line in recipe["lines"]]
        content = {"name": recipe["title"], "ingredients": lines, "steps": recipe.get("steps")}
        found = check_for(Eater(allergies=(attempt["allergy"],)), content)
        told = f"{attempt['allergy']} in {recipe['title']!r}"
        if attempt["dangerous"] and not found and UNKNOWABLE not in told:
            missed.append(told)
        elif found and not attempt["dangerous"]:
            alarmed.append(told)
    assert tried > 250
    assert missed == []
    assert len(alarmed) <= 5, alarmed


@pytest.mark.parametrize("name", FILES)
@pytest.mark.chaos
@pytest.mark.timeout(1800)
async def test_no_attempt_passes_in_silence(tmp_path: Path, name: str):
    attempts = read_lines(name)
    assert len(attempts) > 250
    async with open_alfred(tmp_path) as alfred:
        tally = await attempt_all(alfred, attempts[:: size(12, 1)], in_turn=True)
    assert [each for each in tally.passed if UNKNOWABLE not in each] == []
    # A harmless look-alike is hardly ever asked about.
    harmless = sum(each.total() for each in tally.harmless.values())
    assert len(tally.alarmed) <= harmless * 0.12, tally.alarmed


async def test_a_plain_write_is_refused_and_says_who_what_and_where(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        await begin(alfred, eaters=["Anna: allergy peanuts"])
        meal = creating("meal_plans", {"plan_date": DAY, "recipe": "Pad Thai"})
        preview = await refused(alfred, meal)
        (reason,) = preview.reasons
        assert "Pad Thai" in reason
        assert "Anna's allergy" in reason
        assert "roasted peanuts" in reason
        assert await rows(alfred, "meal_plans") == []
        # A word that was never shown the reason is no word on it.
        with pytest.raises(WriteError) as caught:
            blank = preview.model_copy(update={"reasons": []})
            await alfred.write(alfred.who(), meal, blank)
        assert caught.value.kind == "conflict"
        await alfred.write(alfred.who(), meal, preview)
        assert len(await rows(alfred, "meal_plans")) == 1
        found: list[Receipt] = alfred.studio.database.read(list_receipts)
        known = [each for each in found if each.outcome.value == "succeeded"]
        assert "Anna" in str([asdict(each) for each in known if each.tool == "alfred.write"])


@pytest.mark.parametrize(
    ("table", "record"),
    [
        ("shopping_items", {"name": "satay sauce"}),
        ("recipes", {"name": "Noodles", "ingredients": ["noodles", "1 tbsp p\u0435anut butter"]}),
        ("recipes", {"name": "Noodles", "ingredients": ["noodles"], "steps": ["Add peanuts."]}),
        ("meal_plans", {"plan_date": DAY, "note": "gado gado"}),
        ("recipes", {"name": "Bowl", "ingredients": ["2 EL Erdnüsse"]}),
        ("recipes", {"name": "Bowl", "ingredients": ["1 cup penuts"]}),
    ],
)
async def test_what_is_listed_planned_or_saved_passes_the_gate(
    tmp_path: Path, table: str, record: dict[str, Any]
):
    async with open_alfred(tmp_path) as alfred:
        await alfred.set_profile(alfred.who(), {"allergies": ["peanuts"]})
        assert (await refused(alfred, creating(table, record))).reasons
        assert await rows(alfred, table) == []


@pytest.mark.parametrize(
    ("allergy", "name"),
    [
        ("milk", "fate"),
        ("milk", "Greek fate"),
        ("milk", "crumbled fate, drained"),
        ("milk", "olives and fate"),
        ("milk", "crean"),
        ("gluten", "barn"),
        ("meat", "mate"),
        ("shellfish", "calm"),
    ],
)
async def test_an_english_word_among_foods_is_asked_about_as_a_slip(
    tmp_path: Path, allergy: str, name: str
):
    async with open_alfred(tmp_path) as alfred:
        await begin(alfred, allergies=[allergy])
        preview = await refused(alfred, creating("shopping_items", {"name": name}))
        assert "reads like" in str(preview)
        await refused(alfred, creating("recipes", {"name": "Salad", "ingredients": [name]}))


async def test_the_same_word_in_a_sentence_or_beside_a_food_is_no_slip(tmp_path: Path):
    harmless = {
        "name": "Better Onions",
        "ingredients": ["a dash of salt", "2 tbsp oil, plus more", "1 onion, halve"],
        "steps": ["Leave the rest to fate for an hour, mate."],
    }
    async with open_alfred(tmp_path) as alfred:
        await begin(alfred, allergies=["milk", "fish", "sesame", "meat"])
        await alfred.write(alfred.who(), creating("recipes", harmless))


async def test_links_to_other_recipes_are_followed(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        sauce = {"name": "House Sauce", "ingredients": ["2 tbsp peanut butter"]}
        base = {"name": "Base", "ingredients": ["1 batch house sauce (see House Sauce)"]}
        for record in (sauce, base):
            await alfred.write(alfred.who(), creating("recipes", record))
        await alfred.set_profile(alfred.who(), {"allergies": ["peanuts"]})
        wraps = {"name": "Wraps", "ingredients": ["lettuce", "1 portion base"]}
        (reason,) = (await refused(alfred, creating("recipes", wraps))).reasons
        assert "House Sauce" in reason
        lost = {"name": "Bowl", "ingredients": ["1 batch topping (see Granny's topping)"]}
        (reason,) = (await refused(alfred, creating("recipes", lost))).reasons
        assert "not known" in reason


async def test_what_cannot_be_known_is_said(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        link = {"name": "Cake", "storage": "link", "source_url": "https://example.org/cake"}
        await alfred.write(alfred.who(), creating("recipes", link))
        await alfred.set_profile(alfred.who(), {"allergies": ["egg"]})
        meal = creating("meal_plans", {"plan_date": DAY, "recipe": "Cake"})
        (reason,) = (await refused(alfred, meal)).reasons
        assert "only a link" in reason
        assert "not known" in reason


async def test_a_conversation_asks_before_it_cooks_plans_or_lists(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        session = await begin(alfred, allergies=["peanuts"])
        asked = await alfred.send("I'm making pad thai for 2", session_id=session)
        assert asked.action == "clarify"
        assert "roasted peanuts" in asked.message
        assert alfred.cooking(session) is None
        cooked = await alfred.send("yes", session_id=session)
        assert "Mind:" in cooked.message
        assert alfred.cooking(session) is not None
        await alfred.send("stop", session_id=session)
        scaled = await alfred.send("scale pad thai to 6", session_id=session)
        assert "peanuts (your allergy)" in scaled.message
        for message in ("plan pad thai for Thursday", "add what's missing for pad thai"):
            asked = await alfred.send(message, session_id=session)
            assert asked.action == "propose", asked.message
            assert "peanuts (your allergy)" in asked.message
            await alfred.send("no", session_id=session)
        assert await rows(alfred, "meal_plans") == []
        assert await rows(alfred, "shopping_items") == []


async def test_an_undo_asks_before_it_drops_an_allergy(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        session = await alfred.new_session()
        await alfred.send("I'm allergic to peanuts", session_id=session)
        asked = await alfred.send("undo", session_id=session)
        assert asked.action == "clarify"
        assert (await alfred.kitchen.profile_row(alfred.who()))["allergies"] == ["peanuts"]
        await alfred.send("no", session_id=session)
        assert (await alfred.kitchen.profile_row(alfred.who()))["allergies"] == ["peanuts"]
        await alfred.send("undo", session_id=session)
        await alfred.send("yes", session_id=session)
        assert (await alfred.kitchen.profile_row(alfred.who()))["allergies"] == []
        await alfred.set_profile(alfred.who(), {"allergies": ["egg"]})
        with pytest.raises(WriteError) as caught:
            await alfred.undo(alfred.who())
        assert caught.value.kind == "needs_confirmation"
        await alfred.undo_anyway(alfred.who())
        assert (await alfred.kitchen.profile_row(alfred.who()))["allergies"] == []


async def test_an_undo_asks_before_it_brings_an_allergen_back(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        await begin(alfred)
        meal = creating("meal_plans", {"plan_date": DAY, "recipe": "Pad Thai"})
        await alfred.write(alfred.who(), meal)
        gone = {"field": "plan_date", "op": "eq", "value": DAY}
        request = WriteRequest.model_validate(
            {"op": "delete", "table": "meal_plans", "filters": [gone]}
        )
        session = await alfred.new_session()
        await alfred.send("I'm allergic to peanuts", session_id=session)
        await alfred.write(alfred.who(), request)
        with pytest.raises(WriteError) as caught:
            await alfred.undo(alfred.who())
        assert "peanuts" in caught.value.message
        assert await rows(alfred, "meal_plans") == []


async def test_an_allergen_nobody_knows_is_asked_about(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        session = await alfred.new_session()
        asked = await alfred.send("I'm allergic to penuts", session_id=session)
        assert asked.action == "clarify"
        assert "peanuts" in asked.message
        await alfred.send("yes", session_id=session)
        assert (await alfred.kitchen.profile_row(alfred.who()))["allergies"] == ["peanuts"]
        with pytest.raises(WriteError) as caught:
            await alfred.set_profile(alfred.who(), {"allergies": ["peanuts", "almods"]})
        assert "nuts" in caught.value.message


async def test_a_new_allergy_tells_what_is_planned_already(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        session = await begin(alfred)
        meal = creating("meal_plans", {"plan_date": "2099-01-01", "recipe": "Pad Thai"})
        await alfred.write(alfred.who(), meal)
        told = await alfred.send("our son is allergic to peanuts", session_id=session)
        assert "2099-01-01" in told.message
        assert "son's allergy" in told.message


async def test_nuts_keep_from_peanuts_and_are_taken_back_whole(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        session = await alfred.new_session()
        await alfred.send("my son is allergic to nuts", session_id=session)
        preview = await refused(alfred, creating("shopping_items", {"name": "peanuts"}))
        assert "son's allergy" in " ".join(preview.reasons)
        view = await alfred.kitchen.profile(alfred.who(), "compact")
        assert "son: allergy peanuts" in view.pinned
        await alfred.send("I'm allergic to nuts", session_id=session)
        view = await alfred.kitchen.profile(alfred.who(), "compact")
        assert "nuts, peanuts" in view.pinned
        await alfred.send("I'm not allergic to nuts", session_id=session)
        await alfred.send("yes", session_id=session)
        assert (await alfred.kitchen.profile_row(alfred.who()))["allergies"] == []


async def test_what_is_always_avoided_is_asked_about_in_a_plan(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        session = await begin(alfred)
        await alfred.send("always avoid peanuts", session_id=session)
        asked = await alfred.send("plan pad thai for Thursday", session_id=session)
        assert "always avoid" in asked.message
        assert await rows(alfred, "meal_plans") == []


async def test_a_sample_kitchen_leaves_out_what_nobody_here_may_eat(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        await alfred.set_profile(alfred.who(), {"allergies": ["dairy"]})
        assert (await alfred.seed(alfred.who()))["recipes"] > 0
        names = [str(row["name"]) for row in await rows(alfred, "shopping_items")]
        assert not any("dairy" in allergens_in(name) for name in names)


async def test_another_persons_private_names_stay_out_of_the_catalogue(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        await alfred.add_person("bob", "Bob")
        mine = creating("inventory_items", {"ingredient": "Aunt Zelda's tonic", "quantity": 1})
        common = creating("inventory_items", {"ingredient": "red lentils", "quantity": 1})
        for request in (mine, common):
            await alfred.write(alfred.who(), request)
        wanted = ReadRequest.model_validate({"table": "ingredients"})
        seen = [row["name"] for row in (await alfred.kitchen.read(alfred.who("bob"), wanted)).rows]
        assert seen == ["red lentils"]
        own = [row["name"] for row in (await alfred.kitchen.read(alfred.who(), wanted)).rows]
        assert sorted(own) == ["Aunt Zelda's tonic", "red lentils"]
        near = creating("inventory_items", {"ingredient": "aunt zeldas tonik", "quantity": 1})
        notes = (await alfred.write(alfred.who("bob"), near)).notes
        assert not any("Zelda's" in note for note in notes)


async def eaters(alfred: KitchenProject) -> list[str]:
    return (await alfred.kitchen.profile_row(alfred.who()))["eaters"]


@pytest.mark.parametrize(
    "said",
    [
        "remove gluten from my son's allergies",
        "my son is no longer allergic to gluten",
        "my son isn't allergic to gluten any more",
        "I have no more allergies: remove gluten from my son's allergies",
    ],
)
async def test_a_limit_of_somebody_else_is_lifted_only_after_a_yes(tmp_path: Path, said: str):
    async with open_alfred(tmp_path) as alfred:
        session = await alfred.new_session()
        await alfred.send("my son is allergic to gluten", session_id=session)
        assert await eaters(alfred) == ["son: allergy gluten"]
        asked = await alfred.send(said, session_id=session)
        assert "gluten" in asked.message and "son" in asked.message
        assert await eaters(alfred) == ["son: allergy gluten"]
        await alfred.send("yes", session_id=session)
        assert await eaters(alfred) == []


async def test_no_sentence_is_kept_as_what_somebody_must_not_eat(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        session = await alfred.new_session()
        await alfred.send("my son is allergic to zorbium", session_id=session)
        await alfred.send("my son is not allergic to gluten any more", session_id=session)
        assert await eaters(alfred) == []
        for values in (
            {"eaters": ["son: allergy my son is not allergic to gluten any more"]},
            {"allergies": ["she said that gluten is fine"]},
        ):
            with pytest.raises(WriteError, match="no name of a food"):
                await alfred.set_profile(alfred.who(), values)
