"""Scenario 9: from a tournament with a failing agent to the next scene in the chosen voice."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from acceptance_stage import (
    BRIEF,
    DIMENSIONS,
    VOICES,
    action,
    message,
    open_novel,
    passage,
    settle,
    staff,
)

from callboard.core.vocabulary import RunState
from callboard.models import Failure, Line, ModelRequest, Script
from callboard.packs.writers_factory.model import PlannedScene
from callboard.packs.writers_factory.modes import ModeGated
from callboard.packs.writers_factory.permission import WrongMode
from callboard.packs.writers_factory.voice import TournamentState
from callboard.packs.writers_factory.voice.bundle.making import NoWinner

pytestmark = pytest.mark.anyio

BUNDLE = "content/Voice Bundle"
FILES = (
    "Voice-Gold-Standard.md",
    "Voice-Anti-Pattern-Sheet.md",
    "Phase-Evolution-Guide.md",
    "voice.json",
)
SCAFFOLD: dict[str, Any] = {
    "characters_present": ["New: Ines", "Background: keepers"],
    "pov_character": "Ines",
    "location": "Tide office",
    "time_of_day": "dusk",
    "weather": "rain",
    "protagonist_constraint": "She may not ask for help.",
    "scene_goal": "Ines wants the log; the council stands in the way; she forges a line.",
    "conflict": "The council has read it.",
    "outcome": "She keeps the office and loses the crew.",
    "emotional_note": "brittle",
}


def write(request: ModelRequest) -> Line | str:
    """Write the passage, unless the model is the one that is down."""
    if request.model == "script:three":
        return Line(fail=Failure(status=400, message="no such model"))
    return passage()


@pytest.mark.req("WF-20", "WF-51", "WF-89", "WF-90", "WF-91", "WF-92", "WF-97")
@pytest.mark.req("WF-G08", "WF-G43", "WF-G64", "WF-G65", "WF-G66", "WF-G67", "WF-G72")
async def test_scenario_9_voice_tournament(tmp_path: Path) -> None:
    prose = '<content_update target="ch1-sc1">\n' + passage(words=100) + "\n</content_update>"
    script = Script(
        staff(
            {
                **VOICES,
                "tournament_passage": write,
                "scene_scaffold": SCAFFOLD,
                "scene_variant": prose,
            }
        )
    )
    async with open_novel(settle(tmp_path / "book"), script) as novel:
        await novel.found()
        await novel.rooms.modes.advance("VOICE_CALIBRATION", by="writer")
        start = action(
            "start_tournament",
            test_prompt=BRIEF,
            agents='["script:one", "script:two", "script:three"]',
            strategies="ACTION, CHARACTER, DIALOGUE, BALANCED",
        )
        turn = await novel.hear(
            message("Twelve passages, one clock. I will now have them written.", start), "Test it."
        )
        await novel.job(turn, "start_tournament")
        voice = novel.rooms.voice
        (held,) = voice.tournaments()
        assert held.state is TournamentState.READY
        assert (len(held.usable), len(held.failed)) == (8, 4)
        assert {each.agent for each in held.failed} == {"script:three"}
        for variant in held.usable:
            assert {score.dimension: score.most for score in variant.scores} == DIMENSIONS
            assert all(score.quote and score.quote in variant.text for score in variant.scores)
        assert novel.state().findtext("completion_pct") == "40"

        # A bundle needs a winner; a winner is only what the tournament has seen.
        with pytest.raises(NoWinner):
            await novel.record("bundle")
        wrong = action("select_winner", agent_id="script:three", strategy="BALANCED")
        turn = await novel.hear(message("That one failed. Which other?", wrong), "The third.")
        assert turn["actions"][0]["status"] == "failed"
        pick = action(
            "select_winner",
            agent_id="script:two",
            strategy="CHARACTER",
            variant_index=2,
            voice_notes="The rhythm, and that she says little.",
        )
        turn = await novel.hear(message("Taken. Shall the bundle be written?", pick), "The second.")
        (chosen,) = turn["actions"]
        assert chosen["status"] == "executed"
        # The winner's record, not a path: the path comes with the bundle.
        assert chosen["data"]["winner"] == "script:two:CHARACTER_DEPTH:2"
        assert not voice.status().bundle_path

        made = action("generate_bundle")
        turn = await novel.hear(message("I will now write the bundle.", made), "Yes.")
        await novel.job(turn, "generate_bundle")
        for name in FILES:
            assert (novel.root / BUNDLE / name).is_file()
        assert json.loads((novel.root / BUNDLE / "voice.json").read_text("utf-8"))["pov"]
        assert voice.status().bundle_path == BUNDLE
        # The mode stays: nothing moves before the writer's word, and no agent can give it.
        assert novel.rooms.modes.current() == "VOICE_CALIBRATION"
        eager = action("advance_mode", to="DIRECTOR")
        turn = await novel.hear(message("On to the scenes. Which first?", eager), "Go on.")
        assert turn["actions"][0]["status"] == "failed"
        assert "voice_lock" in turn["actions"][0]["detail"]
        with pytest.raises(ModeGated):
            await novel.rooms.modes.advance("DIRECTOR", by="writer")
        assert novel.rooms.modes.completion_pct() == 80
        await voice.lock(confirmed_by_writer=True)
        assert novel.rooms.modes.completion_pct() == 100
        turn = await novel.hear(
            message("The voice is locked. Which scene first?", eager), "Locked."
        )
        assert turn["actions"][0]["status"] == "executed"
        assert novel.rooms.modes.current() == "DIRECTOR"

        # From now on the voice is in every prompt, and in the prompt of the next scene.
        bundle = voice.bundle()
        assert bundle is not None
        gold = bundle.gold_excerpt
        assert 1000 < len(gold) <= 2000 and "Rain fell on the office." in gold
        turn = await novel.hear(message("Scene one. Who is there?"), "Next.", model="openai:gpt-4o")
        shown = novel.prompt(turn).text
        assert "<voice_bundle" in shown and gold[:200] in shown
        await novel.rooms.manuscript.set_outline([PlannedScene(1, 1, "The Clock", 1, "", 100)])
        await novel.run("scaffold", chapter=1, scene=1, title="The Clock")
        await novel.rooms.scenes.approve_scaffold("ch1-sc1")
        await novel.run("write_scene", scaffold_id="ch1-sc1", strategies=["BALANCED"])
        asked = novel.asked("scene_variant")[0]
        assert gold.strip() in asked.prompt_text
        assert bundle.summary in asked.prompt_text
        # The winning agent writes.
        assert asked.model == "script:two"


@pytest.mark.req("WF-G71", "WF-G08", "WF-G61")
async def test_a_voice_nobody_locked_writes_nothing_unless_the_writer_insisted(
    tmp_path: Path,
) -> None:
    prose = '<content_update target="ch1-sc1">\n' + passage(words=100) + "\n</content_update>"
    nothing = '{"nodes": [], "edges": []}'
    answers = {"scene_scaffold": SCAFFOLD, "scene_variant": prose, "memory/extract": nothing}
    script = Script(staff(answers))
    async with open_novel(settle(tmp_path / "book"), script) as novel:
        await novel.found()
        await novel.rooms.manuscript.set_outline([PlannedScene(1, 1, "The Clock", 1, "", 100)])
        brief = {"chapter": 1, "scene": 1, "title": "The Clock"}
        wishes = {"scaffold": brief, "write_scene": {"scaffold_id": "ch1-sc1"}}
        for name, args in wishes.items():
            with pytest.raises(WrongMode) as refused:
                await novel.record(name, **args)
            unmet = cast("list[str]", refused.value.context["unmet"])
            assert any("voice" in each for each in unmet)
        assert novel.asked("scene_scaffold") == novel.asked("scene_variant") == []
        await novel.insist("DIRECTOR", risk="I know how it sounds")
        await novel.run("scaffold", **brief)
        await novel.rooms.scenes.approve_scaffold("ch1-sc1")
        written = await novel.run(
            "write_scene", scaffold_id="ch1-sc1", strategies=["BALANCED"], word_target=100
        )
        (variant,) = written["variants"]
        assert "unlocked_voice" in [flag["code"] for flag in variant["flags"]]
        # The chapter is complete with it: a health check starts by itself, once.
        accepted = await novel.run("accept", scene_id="ch1-sc1", variant_id="BALANCED")
        again = await novel.run("accept", scene_id="ch1-sc1", variant_id="BALANCED")
        assert accepted["health_run"] and accepted["health_run"] == again["health_run"]
        checked = await novel.studio.engine.wait(accepted["health_run"])
        assert checked.state is RunState.DONE
        assert novel.rooms.health.latest() is not None
