"""Limits: who in the house must not eat what is understood as people say it."""

from pathlib import Path

import pytest
from attempts import open_alfred, read_lines

from callboard.packs.alfred.kitchen.food.household import Limit
from callboard.packs.alfred.kitchen.router.limits import read_limits_said

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("message", "limits"),
    [
        ("our son has celiac disease", [Limit("allergy", "gluten", "son")]),
        ("my wife is vegetarian", [Limit("diet", "vegetarian", "wife")]),
        ("I just found out I'm allergic to shellfish", [Limit("allergy", "shellfish")]),
        ("we keep halal", [Limit("diet", "halal", "household")]),
        ("mio padre è allergico ai crostacei", [Limit("allergy", "crustaceans", "padre")]),
        ("Ben is vegan now apparently", [Limit("diet", "vegan", "Ben")]),
        (
            "i'm alergic to walnuts and pecans but almonds are ok",
            [Limit("allergy", "walnuts"), Limit("allergy", "pecans")],
        ),
    ],
)
def test_a_statement_is_understood(message: str, limits: list[Limit]):
    assert list(read_limits_said(message).limits) == limits


# The second file was looked at only when this was done.
@pytest.mark.parametrize(("name", "most"), [("limits_dev.jsonl", 0.05), ("limits_held.jsonl", 0.2)])
def test_what_is_no_limit_is_hardly_ever_filed_as_one(name: str, most: float):
    innocent = [each for each in read_lines(name) if each["kind"] == "none"]
    filed = [each["message"] for each in innocent if read_limits_said(each["message"]).limits]
    assert len(innocent) > 20
    assert len(filed) <= len(innocent) * most, filed


async def test_the_limits_of_everybody_count(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        session = await alfred.new_session()
        await alfred.send("our son has celiac disease", session_id=session)
        await alfred.send("my wife is vegetarian", session_id=session)
        asked = await alfred.send("add bread and bacon to the list", session_id=session)
        assert "son's allergy" in asked.message
        assert "wife's diet" in asked.message
        row = await alfred.kitchen.profile_row(alfred.who())
        assert row["eaters"] == ["son: allergy gluten", "wife: diet vegetarian"]
