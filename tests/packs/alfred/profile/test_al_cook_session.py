"""Cooking: a pinned recipe, scaled, walked through step by step, and finished once."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.clock import SystemClock
from callboard.core.errors import NotFound
from callboard.packs.alfred.kitchen.cooking import (
    CookCommand,
    CookSession,
    CookSessions,
    seconds_in,
)
from callboard.packs.alfred.kitchen.router.stove import read_command
from callboard.store.records import Records
from callboard.store.sqlite.database import SqliteDatabase

pytestmark = pytest.mark.anyio

RECIPE: dict[str, Any] = {
    "id": "r1",
    "name": "Butter Chicken",
    "servings": 2,
    "ingredients": [
        {"name": "chicken thighs", "quantity": 250, "unit": "g"},
        {"name": "butter", "quantity": 1.5, "unit": "tbsp", "preparation": "melted"},
        {"name": "salt", "quantity": None, "unit": None},
    ],
    "steps": [
        {"text": "Brown the chicken.", "minutes": None},
        {"text": "Simmer for 1 hour and 20 minutes.", "minutes": None},
        {"text": "Rest it.", "minutes": 5},
    ],
}


@pytest.mark.req("AL-75")
@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("next", CookCommand("next")),
        ("OK, next!", CookCommand("next")),
        ("ok done, next", CookCommand("next")),
        ("done that, carry on", CookCommand("next")),
        ("done chopping", None),
        ("done. now what?", CookCommand("next")),
        ("onions are in. now what", CookCommand("next")),
        ("wait, slower, which pan?", CookCommand("repeat")),
        ("go back", CookCommand("back")),
        ("again?", CookCommand("repeat")),
        ("step 2", CookCommand("step", 2)),
        ("How much butter do I need?", CookCommand("how_much", text="butter")),
        ("how many of the eggs", CookCommand("how_much", text="eggs")),
        ("set a timer for 10 minutes", CookCommand("timer", 600)),
        ("timer", CookCommand("timer")),
        ("10-minute timer", CookCommand("timer", 600)),
        ("ingredients", CookCommand("ingredients")),
        ("done, 5 stars", CookCommand("done", 5, "5 stars")),
        ("done", CookCommand("done")),
        ("I'm done, four stars", CookCommand("done", 4, "four stars")),
        ("done but don't deduct", CookCommand("done", None, "but don't deduct", deducts=False)),
        ("done, take nothing", CookCommand("done", None, "take nothing", deducts=False)),
        ("done, leave the stock", CookCommand("done", None, "leave the stock", deducts=False)),
        ("stop cooking", CookCommand("stop")),
        ("add milk to my shopping list", None),
        ("how are you", None),
        ("my timer broke", None),
    ],
)  # fmt: skip
async def test_short_words_need_no_model(said: str, command: CookCommand | None):
    assert read_command(said) == command


@given(st.text(max_size=80))
def test_any_message_can_be_read(text: str):
    read_command(text)
    seconds_in(text)


@pytest.mark.req("AL-75")
async def test_a_recipe_is_walked_through():
    session = CookSession.of(RECIPE, 4, now_ms=0)
    told: list[str] = []
    words = (
        "next next timer back next next timer next how_much_butter how_much_chicken"
        " how_much_salt how_much_rice step_9 repeat"
    )
    for word in words.split():
        command = read_command(word.replace("_", " "))
        assert command is not None
        session, text = session.follow(command, now_ms=1_000)
        told.append(text)
    assert told == [
        "Step 1 of 3: Brown the chicken.",
        "Step 2 of 3: Simmer for 1 hour and 20 minutes.",
        "Timer set: 80 min.",
        "Step 1 of 3: Brown the chicken.",
        "Step 2 of 3: Simmer for 1 hour and 20 minutes.",
        "Step 3 of 3: Rest it. (5 min)",
        "Timer set: 5 min.",
        "That was the last step. Say done when it is on the table.",
        "3 tbsp butter, melted",
        "500 g chicken thighs",
        "salt, to taste",
        "Butter Chicken uses no rice.",
        "There are 3 steps.",
        "Step 3 of 3: Rest it. (5 min)",
    ]
    assert [timer["seconds"] for timer in session.due_timers(301_000)] == [300]
    assert session.summary().startswith("Cooking now: Butter Chicken, for 4\n- 500 g chicken")


@pytest.mark.req("AL-75")
async def test_being_done_is_one_write():
    session = CookSession.of(RECIPE, None, now_ms=0)
    request = session.finish(45 * 60_000, rating=5)
    assert request.table == "cooking_log"
    assert request.records == [
        {"recipe_id": "r1", "servings": 2, "inventory_deducted": True, "rating": 5, "minutes": 45}
    ]
    days_later = session.finish(3 * 24 * 3_600_000, deducts=False)
    assert days_later.records == [{"recipe_id": "r1", "servings": 2, "inventory_deducted": False}]


@pytest.mark.req("AL-75")
async def test_where_the_cook_is_survives_a_restart(tmp_path: Path):
    path = tmp_path / "callboard.db"
    database = SqliteDatabase.open(path)
    sessions = CookSessions(Records(database, "alfred", SystemClock()))
    with pytest.raises(NotFound):
        sessions.require("sess-1")
    session, _ = CookSession.of(RECIPE, 3, now_ms=7).follow(CookCommand("next"), 8)
    session, _ = session.follow(CookCommand("timer", 60), 9)
    await sessions.put("sess-1", session)
    database.close()
    database = SqliteDatabase.open(path)
    again = CookSessions(Records(database, "alfred", SystemClock()))
    assert again.require("sess-1") == session
    assert again.get("sess-2") is None
    assert await again.end("sess-1")
    assert again.get("sess-1") is None
    database.close()


async def test_a_recipe_without_steps_can_be_cooked():
    session = CookSession.of({**RECIPE, "steps": []}, 2, now_ms=0)
    assert session.follow(CookCommand("next"), 0)[1] == "Butter Chicken has no steps written down."


def test_one_of_a_kind_is_called_so_when_a_recipe_is_scaled():
    eggs = {"name": "large eggs", "quantity": 2, "unit": None}
    session = CookSession.of({**RECIPE, "ingredients": [eggs]}, 1, 0)
    assert session.follow(CookCommand("ingredients"), 0)[1] == "- 1 large egg"
    session = CookSession.of({**RECIPE, "ingredients": [eggs]}, 2, 0)
    assert session.follow(CookCommand("ingredients"), 0)[1] == "- 2 large eggs"
