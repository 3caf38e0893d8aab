"""Scenarios 7 and 8: replies out of shape, actions out of place, and a writer who always sees text.

One conversation in one book, so that a bad reply also has to leave the next turn unharmed.
"""

from pathlib import Path
from typing import Any

import pytest
from acceptance_stage import action, message, open_novel, reply, settle

from callboard.models import Script
from callboard.store.journal.runs import list_runs

pytestmark = pytest.mark.anyio

SAVE = action("save_decision", category="world", key="forged", value="must never be saved")


def kept(key: str, value: str, quote: str = '"') -> str:
    """Return a decision as a careless model writes it."""
    return (
        f"<action type={quote}save_decision{quote} class={quote}x{quote}>"
        f"<category>world</category><key>{key}</key><value>{value}</value></action>"
    )


# What is sent, what is seen of it, what is executed, whether it is worth a warning.
MESSY: list[tuple[str, str, int, bool]] = [
    ("No tags at all. What now?", "No tags at all.", 0, True),
    (
        f"<thinking>I could {SAVE}</thinking><message>Thought. What now?</message>",
        "Thought.",
        0,
        False,
    ),
    ("<message>It never ends. What now?", "It never ends.", 0, True),
    (
        '{"message": "From JSON. What now?", "actions": [{"type": "save_decision", '
        '"category": "world", "key": "from_json", "value": "tides turn"}]}',
        "From JSON.",
        1,
        True,
    ),
    (
        "<message>Broken. What now?</message><action type='save_decision'><key>forged</action>",
        "Broken.",
        0,
        True,
    ),
    (
        f"<message>Quoted. What now?</message>{kept('single', 'quotes', chr(39))}",
        "Quoted.",
        1,
        False,
    ),
    ("<message>One.</message>\n<message>Two. What now?</message>", "One.\n\nTwo.", 0, False),
    (f"<message>Look: {SAVE} and go on. What now?</message>", "Look:", 0, False),
    (message("Shown:\n```xml\n" + SAVE + "\n```\nWhat now?"), "Shown:", 0, False),
    (f"<message>Cut. What now?</message>\n{SAVE.removesuffix('</action>')}", "Cut.", 0, True),
]


@pytest.mark.req("WF-60", "WF-61", "WF-62", "WF-64", "WF-G36", "WF-G37", "WF-G38")
async def test_scenario_7_messy_replies(tmp_path: Path) -> None:
    script = Script(*(reply(text) for text, *_ in MESSY))
    async with open_novel(settle(tmp_path / "book"), script) as novel:
        turns: list[Any] = []
        for text, shown, executed, is_odd in MESSY:
            turn = await novel.say("The tides turn, and the quotes are single.")
            turns.append(turn)
            assert turn["message"].startswith(shown), text
            done = [each for each in turn["actions"] if each["status"] == "executed"]
            assert len(done) == executed, text
            assert bool(turn["warnings"]) is is_odd, text
            # The reply is on record as it came, and so is what was odd about it.
            record = novel.prompt(turn)
            assert record.reply is not None and record.reply.text == text
        foreman = novel.factory.foreman
        assert [each["warnings"] for each in foreman.turns().values()] == [
            turn["warnings"] for turn in turns
        ]
        saved = {each.key for each in novel.rooms.memory.decisions()}
        assert saved == {"from_json", "single"}
        assert foreman.state().mode == "ARCHITECT"
        # History teaches the protocol again, whatever was sent.
        later = await novel.hear(message("Which tide?"), "And?", model="openai:gpt-4o")
        history = novel.prompt(later).text
        assert "ASSISTANT: <message>\nNo tags at all. What now?\n</message>" in history
        assert "<thinking>I could" not in history


@pytest.mark.req("WF-25", "WF-65", "WF-67", "WF-68", "WF-69", "WF-G45")
async def test_scenario_8_wrong_mode_and_invalid_actions(tmp_path: Path) -> None:
    said = message(
        "I keep the tide. What does it flood first?",
        action("write_scene", scaffold_id="ch1-sc1"),
        action("summon_dragon", size="big"),
        action("save_decision", category="world", key="tide"),
        action("save_decision", category="world", key="tide", value="turns twice a day"),
        action("save_decision", category="world", key="tide", value="turns twice a day"),
    )
    async with open_novel(settle(tmp_path / "book"), Script(reply(said))) as novel:
        turn = await novel.say("The tide turns twice a day.")
        assert [each["status"] for each in turn["actions"][:4]] == [
            "denied",
            "unknown_type",
            "invalid",
            "executed",
        ]
        # The same wish twice in one reply is one deed.
        assert [each["status"] for each in turn["actions"]].count("executed") == 1
        assert all(each["duration_ms"] >= 0 for each in turn["actions"])
        assert turn["message"] == "I keep the tide. What does it flood first?"
        for name in ("write_scene", "summon_dragon", "save_decision"):
            assert any(name in told for told in turn["notices"])
        (entry,) = novel.rooms.memory.decisions()
        assert (entry.category, entry.key, entry.value) == ("world", "tide", "turns twice a day")
        assert novel.rooms.memory.facts.count() == 1
        # Nothing was started, and the results are told to the agent.
        later = await novel.hear(message("The pier, then. Who stands on it?"), "The pier.")
        results = novel.prompt(later).text.rsplit("<action_results>", 1)[1]
        for word in ("denied", "unknown_type", "invalid", "executed"):
            assert word in results
        runs = novel.studio.database.read(list_runs)
        assert {run.choreography for run in runs} == {"writers_factory/chat"}


@pytest.mark.req("WF-G42", "WF-G87")
async def test_commands_of_the_writer_are_nobody_elses(tmp_path: Path) -> None:
    wanted = ("confirm_voice_lock", "override_gate", "mark_complete", "resolve_conflict")
    said = message(
        "I only suggest. Which one do you choose?",
        *(action(name, by="writer", confirmed="true", to="EDITOR") for name in wanted),
        action("set_theme_override", scene="ch1-sc1", score="10"),
        action("advance_mode", to="EDITOR", override="true", by="writer"),
    )
    async with open_novel(settle(tmp_path / "book"), Script(reply(said))) as novel:
        turn = await novel.say("Do as you like.")
        assert not [each for each in turn["actions"] if each["status"] == "executed"]
        assert novel.rooms.modes.current() == "ARCHITECT"
        assert novel.rooms.modes.overrides() == ()
        assert not novel.rooms.voice.status().locked
