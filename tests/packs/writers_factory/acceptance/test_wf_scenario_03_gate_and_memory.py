"""Scenarios 3 and 4: a gate that can be insisted on, and a memory no model switch can lose."""

from pathlib import Path

import pytest
from acceptance_stage import RULES, action, message, open_novel, reply, settle

from callboard.core.vocabulary import ModelTier
from callboard.models import Script
from callboard.packs.writers_factory.modes import ModeGated

pytestmark = pytest.mark.anyio

VOICE = "VOICE_CALIBRATION"
UNMET = "world_rules: 1 more"


@pytest.mark.req("WF-23", "WF-24", "WF-16", "WF-G07", "WF-G09")
async def test_scenario_3_gate_and_override(tmp_path: Path) -> None:
    asks = message("The gate first: which rule is missing?", action("advance_mode", to=VOICE))
    async with open_novel(settle(tmp_path / "book"), Script(reply(asks))) as novel:
        await novel.found(rules=2)
        # The agent is refused, and told what is missing; it can never insist.
        turn = await novel.say("On to the voice.")
        (made,) = turn["actions"]
        assert made["status"] == "failed" and UNMET in made["detail"]
        assert any(UNMET in told for told in turn["notices"])

        modes = novel.rooms.modes
        with pytest.raises(ModeGated) as refused:
            await modes.advance(VOICE, by="writer")
        assert refused.value.unmet == (UNMET,)
        assert modes.current() == "ARCHITECT" and modes.overrides() == ()

        moved = await modes.advance(VOICE, by="writer", override=True, risk_note="Two will do")
        assert modes.current() == VOICE and moved.override is not None
        (override,) = modes.overrides()
        assert (override.from_mode, override.to_mode) == ("ARCHITECT", VOICE)
        assert override.unmet == (UNMET,) and override.ts > 0
        (entry,) = novel.rooms.memory.decisions("constraint")
        assert UNMET in entry.value and "Two will do" in entry.value
        state = novel.state()
        assert state.findtext("current_mode") == VOICE
        (line,) = state.iter("gate_override")
        assert UNMET in "".join(line.itertext()) + str(line.attrib)

        later = await novel.hear(message("Which passage shows her voice?"), "Go on.")
        text = novel.prompt(later).text
        assert "<gate_override" in text and UNMET in text and "Two will do" in text


@pytest.mark.req("WF-23", "WF-35", "WF-19")
async def test_scenario_3_all_complete_needs_no_override(tmp_path: Path) -> None:
    rules = "".join(f"<rule>{rule}</rule>" for rule in RULES)
    done = message(
        "That is the third rule; the foundation stands. I will now open the voice.",
        action("write_template", template="world_rules", content=f"<rules>{rules}</rules>"),
        action("advance_mode", to=VOICE),
    )
    async with open_novel(settle(tmp_path / "book"), Script(reply(done))) as novel:
        await novel.found(rules=2)
        assert novel.rooms.modes.unlocked() == ("ARCHITECT",)
        turn = await novel.say("The third rule is that every forged entry costs a keeper.")
        assert [each["status"] for each in turn["actions"]] == ["executed", "executed"]
        assert novel.rooms.modes.current() == VOICE
        assert novel.rooms.modes.overrides() == ()
        assert list(novel.state().iter("gate_override")) == []


@pytest.mark.req("WF-04", "WF-17", "WF-50", "WF-G06", "WF-G52")
async def test_scenario_4_memory_across_model_switch(tmp_path: Path) -> None:
    root = settle(tmp_path / "book")
    noted = message(
        "Noted. Who has the gun from chapter 4 on?",
        action(
            "save_decision",
            category="preference",
            key="spelling",
            value="British spelling",
            source="writer_stated",
        ),
        action(
            "save_decision",
            category="correction",
            key="gun",
            value="The gun was lost in chapter 3",
            source="writer_stated",
        ),
    )
    async with open_novel(root, Script(reply(noted))) as novel:
        session = await novel.studio.sessions.current()
        first = await novel.say(
            "British spelling, please, and the gun was lost in chapter 3.", model="openai:gpt-4o"
        )
        assert first["model"] == "openai:gpt-4o"
        identity = novel.prompt(first).messages[0].content.split("\n")[0]
    script = Script(reply(message("Nobody, then. Who looks for it?")))
    async with open_novel(root, script) as novel:
        novel.session_id = session.id
        turn = await novel.say("Go on.", model="ollama:mistral:7b")
        record = novel.prompt(turn)
        assert record.model_id == "ollama:mistral:7b" and record.tier is ModelTier.MEDIUM
        memory = record.text.split("<agent_memory>")[1].split("</agent_memory>")[0]
        assert "British spelling" in memory
        assert "The gun was lost in chapter 3" in memory
        assert "<correction" in memory and "<preference" in memory
        # The same person, and the same conversation.
        assert record.messages[0].content.split("\n")[0] == identity
        assert "Noted. Who has the gun from chapter 4 on?" in record.text
        # Every mode has them.
        await novel.found()
        for mode in (VOICE, "DIRECTOR", "EDITOR"):
            await novel.insist(mode)
            kept = "".join("".join(each.itertext()) for each in novel.state().iter("agent_memory"))
            assert "British spelling" in kept and "lost in chapter 3" in kept
