"""Work the Foreman starts and claims it makes, with the real rooms."""

from pathlib import Path
from typing import Any

import pytest
from foreman_stage import (
    FLAW,
    PROTAGONIST,
    TIERS,
    action,
    foreman,
    make_project,
    message,
    open_factory,
    say,
    talk,
)
from guided_talk import cancel_open_runs, enter

from callboard.core.vocabulary import ModelTier
from callboard.models import Catalog, Line, ModelRequest, Script
from callboard.models.catalog import tier_for_window
from callboard.packs.writers_factory.factory import ACTION_OF
from callboard.packs.writers_factory.foreman.sandwich import layer_budgets
from callboard.packs.writers_factory.model import SceneMeta, SceneStatus
from callboard.packs.writers_factory.rooms import Rooms
from callboard.packs.writers_factory.workspace import Workspace

pytestmark = pytest.mark.anyio


def staged(*replies: str) -> Script:
    """Return a script whose Foreman says these things; everybody else says nothing useful."""
    left = list(replies)

    def answer(request: ModelRequest) -> Line | str:
        if str(request.prompt_type).startswith("modes/"):
            return left.pop(0)
        return Line('{"nothing": "useful"}')

    return Script(answer)


@pytest.mark.req("WF-67", "WF-G04")
async def test_a_health_check_is_waited_for_and_talked_about(tmp_path: Path) -> None:
    script = staged(
        message("I will check the book.", action("run_health_check", scope="manuscript")),
        message("Nothing is drafted yet. Which scene comes first?"),
    )
    async with open_factory(make_project(tmp_path / "book"), script) as studio:
        await enter(Rooms.open(Workspace(studio)).modes, "DIRECTOR")
        turn = await say(studio, "How does the book stand?")
        told = turn["actions"][0]
        assert told["status"] == "executed", told
        assert told["job"].startswith("run_")
        assert len(turn["rounds"]) == 2
        assert turn["message"].endswith("Which scene comes first?")


@pytest.mark.req("WF-G42", "WF-G45")
async def test_long_work_is_a_job_and_starts_once(tmp_path: Path) -> None:
    script = staged(message("I will plan the scenes. What must be there?", action("plan_scenes")))
    async with open_factory(make_project(tmp_path / "book"), script) as studio:
        rooms = Rooms.open(Workspace(studio))
        beats = {f"beat_{n}": f"In beat {n} Ines does thing number {n}" for n in range(1, 16)}
        await rooms.bible.write("beat_sheet", beats, source="writer_stated")
        await enter(rooms.modes, "DIRECTOR")
        turn = await say(studio, "Plan it.")
        told = turn["actions"][0]
        assert told["status"] == "executed", told
        job = studio.engine.load(told["job"])
        assert job.choreography == "writers_factory/plan_scenes"
        assert Workspace(studio).records.all("job")
        await cancel_open_runs(studio)


@pytest.mark.req("WF-G90", "WF-G09", "WF-G13")
async def test_a_template_can_be_opened_again_while_the_voice_is_sought(tmp_path: Path) -> None:
    script = staged(
        message(
            "I open it again. What changes?",
            action("update_status", template="protagonist", status="in_progress"),
        ),
        message(
            "I close it. What next?",
            action("update_status", template="protagonist", status="complete"),
            action("update_status", template="theme", status="complete"),
        ),
    )
    async with open_factory(make_project(tmp_path / "book"), script) as studio:
        rooms = Rooms.open(Workspace(studio))
        await rooms.bible.write("protagonist", PROTAGONIST, source="writer_stated")
        assert rooms.bible.template("protagonist").status.value == "complete"
        await enter(rooms.modes, "VOICE_CALIBRATION")
        await say(studio, "Her flaw is wrong after all.")
        assert rooms.bible.template("protagonist").status.value != "complete"
        turn = await say(studio, "No, keep it.")
        assert rooms.bible.template("protagonist").status.value == "complete"
        assert any("theme is not_started, not complete" in told for told in turn["notices"])


@pytest.mark.req("WF-G82", "WF-G40")
async def test_edits_and_proposals_go_through_revision(tmp_path: Path) -> None:
    script = staged(
        message(
            "I will cut it. What else?",
            action("apply_edit", target="ch1-sc1", old_text="rain", new_text="fog", reason="echo"),
            action(
                "apply_edit",
                target="ch1-sc1",
                old_text="The lamp was lit.",
                new_text="Somebody had lit the lamp.",
                reason="active",
            ),
            '<content_update target="ch1-sc1">A new beginning.</content_update>',
            '<content_update target="../../escape.md">x</content_update>',
        )
    )
    async with open_factory(make_project(tmp_path / "book"), script) as studio:
        rooms = Rooms.open(Workspace(studio))
        meta = SceneMeta("ch1-sc1", 1, 1, "Fog", SceneStatus.DRAFTED)
        text = "The rain fell. The rain stopped.\n\nThe lamp was lit.\n"
        await rooms.manuscript.save("ch1-sc1", text, meta, reason="test")
        await enter(rooms.modes, "EDITOR")
        turn = await say(studio, "Tighten scene one.")
        assert [each["status"] for each in turn["actions"]] == ["failed", "executed"]
        assert "2" in turn["actions"][0]["detail"]
        assert "Somebody had lit the lamp." in rooms.manuscript.text("ch1-sc1")
        kept, refused = turn["content_updates"]
        assert kept["status"] == "executed" and refused["status"] == "denied"
        proposal = rooms.revision.proposals.get(kept["proposal"])
        assert "A new beginning." in proposal.text and proposal.source.startswith("conversation:")
        assert "A new beginning." not in rooms.manuscript.text("ch1-sc1")


@pytest.mark.req("WF-78", "WF-79", "WF-G50", "WF-G51", "WF-59")
async def test_scenario_5_two_hundred_decisions(tmp_path: Path) -> None:
    async with open_factory(make_project(tmp_path / "book"), Script()) as studio:
        rooms = Rooms.open(Workspace(studio))
        await rooms.bible.describe(protagonist_name="Ines Varga")
        save = rooms.memory.save_decision
        await save("character", "ines_varga_fatal_flaw", FLAW)
        await save("character", "ines_varga_the_lie", "Nobody stays")
        for number in range(200):
            await save("structure", f"structure_{number}", f"volatile {number}")
        for number in range(25):
            await save("character", f"person_{number}_habit", f"habit {number}")
        mine = foreman(studio)
        for tier, model in TIERS.items():
            prompt = mine.preview("What now?", model=model)
            assert prompt.tier is tier
            assert prompt.total_tokens <= layer_budgets()[tier].input
            assert FLAW in prompt.text and "Nobody stays" in prompt.text
            assert "volatile" not in prompt.text


@pytest.mark.req("WF-15", "WF-G01")
async def test_the_state_can_be_had_in_three_forms(tmp_path: Path) -> None:
    async with open_factory(make_project(tmp_path / "book"), Script()) as studio:
        mine = foreman(studio)
        data: Any = mine.state_json({"file": "a.md"})
        assert data["mode"] == "ARCHITECT" and data["active"] == {"file": "a.md"}
        assert mine.state_xml({"file": "a.md"}).startswith("<session_state>")
        assert "Open now: file a.md" in mine.state_text({"file": "a.md"})


@pytest.mark.req("WF-55", "WF-G31")
def test_tiers_of_models() -> None:
    catalog = Catalog.load({"my-model": {"window": 20_000}})
    expected = {
        "gpt-4o": ModelTier.FULL,
        "openai:gpt-4o-mini": ModelTier.FULL,
        "claude-sonnet": ModelTier.FULL,
        "anthropic:claude-opus-4": ModelTier.FULL,
        "gemini-2.0-flash": ModelTier.FULL,
        "grok-2": ModelTier.FULL,
        "mistral-large": ModelTier.FULL,
        "deepseek-chat": ModelTier.MEDIUM,
        "qwen-plus": ModelTier.MEDIUM,
        "qwen-max": ModelTier.MEDIUM,
        "ollama:mistral:7b": ModelTier.MEDIUM,
        "ollama:llama3.2:3b": ModelTier.MINIMAL,
        "nobody:knows-it": ModelTier.MEDIUM,
        "my-model": ModelTier.MINIMAL,
    }
    for model, tier in expected.items():
        assert catalog.facts(model).tier is tier, model
    assert catalog.facts("nobody:knows-it").xml_reliability.value == "medium"
    assert tier_for_window(128_000) is ModelTier.FULL
    assert tier_for_window(32_000) is ModelTier.MEDIUM


@pytest.mark.req("WF-G03")
async def test_a_reply_after_a_switch_is_recorded_with_the_prompt_of_the_new_tier(
    tmp_path: Path,
) -> None:
    script = Script(message("One. Which?"), message("Two. Which?"))
    async with open_factory(make_project(tmp_path / "book"), script) as studio:
        first: Any = (await talk(studio, "Hello", model="openai:gpt-4o")).result
        second: Any = (await talk(studio, "Hello", model="ollama:llama3.2:3b")).result
        assert (first["tier"], second["tier"]) == ("full", "minimal")
        assert len(script.prompts[1]) < len(script.prompts[0]) / 2


@pytest.mark.req("WF-G42")
async def test_every_run_an_action_starts_takes_what_the_action_gives(tmp_path: Path) -> None:
    async with open_factory(make_project(tmp_path / "book"), Script()) as studio:
        actions = foreman(studio).catalogue.actions
        started = {run: actions[name] for run, name in ACTION_OF.items() if run != "accept"}
        assert len(started) >= 10
        for run, spec in started.items():
            offered = studio.repertoire.choreography(f"writers_factory/{run}").parameters
            assert set(spec.schema["properties"]) <= set(offered), spec.name


@pytest.mark.req("WF-03")
async def test_a_template_edited_into_nonsense_does_not_stop_a_turn(tmp_path: Path) -> None:
    root = make_project(tmp_path / "book")
    theme = root / "content" / "Story Bible" / "Theme.md"
    theme.parent.mkdir(parents=True)
    theme.write_bytes(b"---\ntheme_statement: [unclosed\n: : :\n\xff\xfe---\n<action>")
    script = staged(message("The theme file cannot be read. What should it say?"))
    async with open_factory(root, script) as studio:
        turn = await say(studio, "What is missing?")
        assert turn["message"].endswith("What should it say?")
        assert 'name="theme"' in script.prompts[0]
        assert 'name="theme" status="complete"' not in script.prompts[0]


async def test_the_same_prose_twice_is_proposed_once(tmp_path: Path) -> None:
    update = '<content_update target="content/Notes/idea.md">A note.</content_update>'
    script = staged(message("Two of them. Which?", update, update))
    async with open_factory(make_project(tmp_path / "book"), script) as studio:
        await enter(Rooms.open(Workspace(studio)).modes, "DIRECTOR")
        turn = await say(studio, "Note it.")
        assert len(turn["content_updates"]) == 1
