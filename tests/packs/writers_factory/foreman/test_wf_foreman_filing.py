"""What a conversation files: only what the writer said, shown at once, and taken back by a word."""

from pathlib import Path
from typing import Any

import pytest
from foreman_stage import FLAW, action, make_project, message, open_factory, say

from callboard.models import Script
from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.factory import factory_of
from callboard.packs.writers_factory.memory import Memory
from callboard.packs.writers_factory.memory.operations import list_filings, take_back
from callboard.packs.writers_factory.workspace import Workspace
from callboard.studio.studio import Studio
from callboard.tools import list_receipts

pytestmark = pytest.mark.anyio

GUIDED = {"foreman": {"guided": "always"}}
NO_ANSWERS = (
    "Help me, please",
    "Tell me a joke",
    "Thank you",
    "What do you mean by flaw?",
    "show me what we have so far",
    "I don't know yet",
    "give me three examples from famous novels",
    "you got that wrong, I never said she was proud",
    "my cat just walked over the keyboard",
    "leave it blank",
    "hmm good question, let me think",
    '{"fatal_flaw": "x"}',
)


def fields(studio: Studio, template: str = "protagonist") -> dict[str, Any]:
    return dict(Bible(Workspace(studio)).template(template).fields)


async def named(studio: Studio) -> None:
    await say(studio, "Ines Varga")


@pytest.mark.parametrize("said", NO_ANSWERS)
async def test_what_is_no_answer_is_filed_nowhere(tmp_path: Path, said: str) -> None:
    async with open_factory(make_project(tmp_path / "book", **GUIDED), Script("")) as studio:
        await named(studio)
        turn = await say(studio, said)
        assert "fatal_flaw" not in fields(studio), turn["message"]
        assert Memory(Workspace(studio)).decisions() == ()
        assert turn["actions"] == [] and turn["waiting"] == []
        assert turn["message"].rstrip().endswith(("?", ".")), turn["message"]


async def test_a_beat_is_not_thanked_into_being(tmp_path: Path) -> None:
    async with open_factory(make_project(tmp_path / "book", **GUIDED), Script("")) as studio:
        await named(studio)
        for _ in range(6):
            turn = await say(studio, "skip")
        assert turn["gap"]["field"] == "beat_2"
        await say(studio, "Thank you")
        assert fields(studio, "beat_sheet") == {}


async def test_what_may_be_an_answer_is_asked_about_and_a_yes_files_it(tmp_path: Path) -> None:
    async with open_factory(make_project(tmp_path / "book", **GUIDED), Script("")) as studio:
        await named(studio)
        turn = await say(studio, "maybe that she can't trust anyone?")
        assert "Nothing is filed yet" in turn["message"]
        assert "she can't trust anyone" in turn["message"]
        assert "fatal_flaw" not in fields(studio)
        turn = await say(studio, "yes")
        assert fields(studio)["fatal_flaw"] == "she can't trust anyone"
        assert "content/Characters/Ines_Varga.md" in turn["message"]
        # Another word than yes files nothing, and nothing waits any longer.
        await say(studio, "is it that nobody ever stays?")
        await say(studio, "no")
        await say(studio, "yes")
        assert "the_lie" not in fields(studio)


async def test_the_words_that_lead_to_an_answer_are_left_out(tmp_path: Path) -> None:
    async with open_factory(make_project(tmp_path / "book", **GUIDED), Script("")) as studio:
        await named(studio)
        turn = await say(studio, "Sorry, was making tea. I think her flaw is that she lies first.")
        assert fields(studio)["fatal_flaw"].rstrip(".") == "she lies first"
        assert "she lies first" in turn["message"] and "undo" in turn["message"]


async def test_undo_takes_back_what_was_filed_last_with_a_receipt(tmp_path: Path) -> None:
    async with open_factory(make_project(tmp_path / "book", **GUIDED), Script("")) as studio:
        await named(studio)
        await say(studio, FLAW)
        await say(studio, "Nobody stays unless they are needed")
        turn = await say(studio, "undo")
        assert "Taken back" in turn["message"] and "Nobody stays" in turn["message"]
        assert "the_lie" not in fields(studio) and fields(studio)["fatal_flaw"] == FLAW
        assert turn["gap"]["field"] == "the_lie"
        await say(studio, "Undo that, please")
        await say(studio, "undo")
        # The name goes as well, and with it who the book is about.
        assert not Bible(Workspace(studio)).project().protagonist_name
        turn = await say(studio, "undo")
        assert "left to take back" in turn["message"]
        left = studio.database.read(list_receipts)
        done = [each for each in left if each.tool == "factory.take_back"]
        assert [each.outcome.value for each in done] == ["succeeded"] * 3
        assert {each.agent_id for each in done} == {None}


async def test_a_filing_that_was_edited_since_is_not_overwritten(tmp_path: Path) -> None:
    root = make_project(tmp_path / "book", **GUIDED)
    async with open_factory(root, Script("")) as studio:
        await named(studio)
        await say(studio, FLAW)
        bible = Bible(Workspace(studio))
        await bible.write("protagonist", {"fatal_flaw": "She lies"}, source="writer_stated")
        turn = await say(studio, "undo")
        assert "changed since" in turn["message"]
        assert fields(studio)["fatal_flaw"] == "She lies"


async def test_a_rule_that_is_taken_back_leaves_the_others(tmp_path: Path) -> None:
    rules = ["No boat can leave between two tides", "Only a keeper may write in the log"]
    replies = [
        message(
            "Noted. Which next?",
            action("save_decision", category="world", key=f"rule_{n}", value=rule),
        )
        for n, rule in enumerate(rules)
    ]
    async with open_factory(make_project(tmp_path / "book"), Script(*replies)) as studio:
        for rule in rules:
            await say(studio, rule)
        factory = factory_of(studio)
        filed = await factory.perform(list_filings)
        await factory.perform(take_back, filed[0].id)
        assert fields(studio, "world_rules")["fundamental_rules"] == [rules[1]]
        assert [each.key for each in Memory(Workspace(studio)).decisions()] == ["rule_1"]


async def test_a_model_files_only_what_the_writer_said_or_said_yes_to(tmp_path: Path) -> None:
    invented = action(
        "write_template",
        template="protagonist",
        content="<name>Ines</name><fatal_flaw>Her pride refuses every gift</fatal_flaw>",
        source="writer_stated",
    )
    script = Script(
        message("It stands. What does she believe?", invented),
        message("Good. What does she believe?"),
    )
    async with open_factory(make_project(tmp_path / "book"), script) as studio:
        turn = await say(studio, "Thank you, Ines it is.")
        assert turn["actions"][0]["status"] == "denied"
        assert "Her pride refuses every gift" in " ".join(turn["notices"])
        assert fields(studio) == {}
        turn = await say(studio, "yes")
        assert fields(studio)["fatal_flaw"] == "Her pride refuses every gift"
        assert any("say undo" in each for each in turn["notices"])
        turn = await say(studio, "undo")
        assert "fatal_flaw" not in fields(studio)
        assert turn["prompt_ids"] == []


async def test_a_request_is_not_the_writers_word_for_a_decision(tmp_path: Path) -> None:
    reply = message(
        "Noted. What else?",
        action(
            "save_decision", category="character", key="ines_fatal_flaw", value="Help me, please"
        ),
    )
    async with open_factory(make_project(tmp_path / "book"), Script(reply)) as studio:
        turn = await say(studio, "Help me, please")
        assert turn["actions"][0]["status"] == "denied"
        assert Memory(Workspace(studio)).decisions() == ()
