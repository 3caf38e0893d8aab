"""Scenarios 11 and 12: a flawed draft is scored and mended, a troubled book is told so."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from acceptance_stage import (
    VOICES,
    Novel,
    action,
    message,
    open_novel,
    reply,
    settle,
    staff,
)

from callboard.knowledge import Edge, Node
from callboard.models import ModelRequest, Script
from callboard.packs.writers_factory.model import (
    PlannedScene,
    SceneMeta,
    SceneStatus,
    Severity,
    SymbolUse,
    scene_id,
)

pytestmark = pytest.mark.anyio

PHRASE = "He cut the tape with surgical precision."
FIXED = "He cut the tape along the seam."
SIMILE = "Danny swung the chair like a drunk carpenter."
PLAIN = "Danny swung the chair."
SCENE = (
    "Ines came in by the kitchen. The floor was wet and somebody had left the tap running. She "
    "turned it off and listened.\n\n"
    "“You took your time,” Danny said from the dark.\n\n"
    f"She put the brass key on the counter between them. Danny looked at it. {PHRASE} Then he "
    "opened the box.\n\n"
    f"They ran. Ines kicked the door. {SIMILE} Glass broke. A man fell. They jumped the counter "
    "and ran on."
)
CATEGORIES = (
    "voice_authenticity",
    "prose_quality",
    "beat_compliance",
    "character_consistency",
    "continuity",
)


def judge_scene(request: ModelRequest) -> dict[str, Any]:
    """Like everything, but the voice of one sentence."""
    grade = {"score": 8, "quote": "The floor was wet", "reason": "because"}
    grades: dict[str, Any] = {name: dict(grade) for name in CATEGORIES}
    if "Hark" in request.prompt_text:
        grades["voice_authenticity"]["score"] = 2
    return {**grades, "issues": []}


def fix_issues(_request: ModelRequest) -> dict[str, Any]:
    pairs = ((PHRASE, FIXED), (SIMILE, PLAIN))
    fixes = [
        {"issue": number, "old_text": old, "new_text": new, "reason": "plain"}
        for number, (old, new) in enumerate(pairs, start=1)
    ]
    return {"fixes": fixes}


def revise(request: ModelRequest) -> str:
    """Make one pass worse for the voice, and every other a little better."""
    if request.prompt_type == "revision/pass_voice":
        return SCENE.replace("Glass broke.", "Hark, the glass!")
    return SCENE.replace("A man fell.", "A man went down.")


PASSES = ("structure", "voice", "prose", "character", "continuity", "polish")
REVISERS: dict[str, Any] = {
    "revision/judge_scene": judge_scene,
    "revision/fix_issues": fix_issues,
    **{f"revision/pass_{name}": revise for name in PASSES},
}


async def draft_one(novel: Novel) -> None:
    """Put the flawed draft into a book whose voice is found."""
    await novel.found()
    await novel.insist("VOICE_CALIBRATION")
    await novel.calibrate()
    await novel.insist("DIRECTOR")
    book = novel.rooms.manuscript
    await book.set_outline([PlannedScene(1, 1, "The Box", 1), PlannedScene(1, 2, "The Flight", 3)])
    meta = replace(
        book.scene("ch1-sc1"), status=SceneStatus.DRAFTED, callbacks=("the drowned dog",)
    )
    await book.save("ch1-sc1", SCENE, meta, reason="written")


@pytest.mark.req("WF-100", "WF-101", "WF-102", "WF-66", "WF-G04")
@pytest.mark.req("WF-G76", "WF-G77", "WF-G78", "WF-G79", "WF-G80", "WF-G81")
async def test_scenario_11_analysis_and_enhancement(tmp_path: Path) -> None:
    script = Script(staff({**VOICES, **REVISERS}))
    async with open_novel(settle(tmp_path / "book"), script) as novel:
        await draft_one(novel)
        look = action("analyze_scene", scene_id="ch1-sc1")
        script.add(reply(message("I score it first.", look)))
        script.add(reply(message("Two phrases and a missing dog. Shall I mend the phrases?")))
        turn = await novel.say("How good is it?")
        analysis = novel.rooms.revision.analysis("ch1-sc1")
        assert analysis is not None
        assert analysis.total < 85
        found = {issue.pattern: issue for issue in analysis.issues}
        assert {"with … precision", "simile in action", "the drowned dog"} <= set(found)
        lines = SCENE.splitlines()
        for issue in found.values():
            assert issue.quote.splitlines()[0] in lines[issue.line - 1]
        assert novel.rooms.revision.blocks("ch1-sc1")
        # The agent is shown what was found and answers once more.
        assert "surgical precision" in novel.prompt(turn).text
        assert turn["message"].endswith("mend the phrases?")

        quick = await novel.run("enhance", scene_id="ch1-sc1", mode="action_prompt")
        assert FIXED in quick["preview"] and SIMILE not in quick["preview"]
        assert quick["after"]["total"] > quick["before"]["total"]
        assert novel.rooms.manuscript.text("ch1-sc1") == SCENE
        deep = await novel.run("enhance", scene_id="ch1-sc1", mode="six_pass")
        voice = next(note for note in deep["passes"] if note["name"] == "voice")
        assert not voice["is_kept"] and "voice_authenticity fell" in voice["reverted"]
        assert "Hark" not in deep["preview"] and "A man went down." in deep["preview"]
        assert [note["name"] for note in deep["passes"]] == list(PASSES)

        revision = novel.rooms.revision
        await revision.decide(quick["id"], accept=["fix1", "fix2"])
        mended = SCENE.replace(PHRASE, FIXED).replace(SIMILE, PLAIN)
        assert novel.rooms.manuscript.text("ch1-sc1") == mended
        assert novel.rooms.revision.blocks("ch1-sc1") == ()
        await revision.decide(quick["id"], reject=["fix2"])
        text = (novel.root / novel.rooms.manuscript.path("ch1-sc1")).read_bytes()
        assert SCENE.replace(PHRASE, FIXED).encode() in text


FILLER = "The road went on and the rain went with it. "
TENSION = {1: 2.0, 2: 6.0, 3: 3.0, 4: 8.0, 5: 5.0, 6: 5.4, 7: 5.2}
SPECIAL = {
    (1, 2): "Ines pushed the rope away. “I climb alone,” she said, and the knot slipped. ",
    (2, 1): "A lantern burned in the window, and Ines looked at it for a long time. ",
    (3, 1): "Ines walked through Harrow until the bells rang. ",
    (3, 2): "In Aldgate Ines knocked at the third door and waited. ",
}


async def trouble(novel: Novel) -> None:
    """Write fourteen scenes with one of every trouble."""
    await novel.found()
    beats = iter([1, 2, 3, 4, 5, 5, 6, 7, 8, 8, 8, 8, 8, 8])
    book = novel.rooms.manuscript
    for chapter, tension in TENSION.items():
        for scene in (1, 2):
            own = SPECIAL.get((chapter, scene), f"Ines counted to {chapter * 2 + scene}. ")
            meta = SceneMeta(
                scene_id(chapter, scene),
                chapter,
                scene,
                status=SceneStatus.DRAFTED,
                beat_number=next(beats),
                characters=("Ines",),
                tension=tension,
            )
            if (chapter, scene) == (2, 1):
                meta = replace(meta, symbols=(SymbolUse("lantern", "introduction"),))
            if chapter == 3:
                place = "Harrow" if scene == 1 else "Aldgate"
                meta = replace(meta, location=place, story_time="Day 3, night")
            await book.save(meta.scene_id, own + FILLER * 9, meta, reason="test", force=True)
    await novel.rooms.memory.graph.merge(
        [
            Node("character:ines-varga", "character", "Ines Varga", ("Ines",)),
            Node("character:corvin", "character", "Corvin", attrs={"function": "antagonist"}),
            Node("symbol:lantern", "symbol", "lantern"),
        ],
        [Edge("character:corvin", "character:ines-varga", "opposes")],
    )
    await novel.insist("DIRECTOR")


def challenge(request: ModelRequest) -> dict[str, Any]:
    quote = "the knot slipped"
    is_here = quote in request.prompt_text
    kind = "failure" if is_here else "none"
    said: dict[str, Any] = {
        "tension": 5,
        "challenge": {"type": kind, "intensity": 6, "quote": quote if is_here else ""},
    }
    asked = dict(request.json_schema or {}).get("properties", {})
    if "symbols" in asked:
        said["symbols"] = [{"name": "lantern", "stage": "introduction"}]
    if "functions" in asked:
        said["functions"] = []
    return said


def pair(request: ModelRequest) -> dict[str, Any]:
    is_suspected = re.search(r"at the same time", request.prompt_text) is not None
    verdict = "impossible" if is_suspected else "none"
    return {"verdict": verdict, "title": "", "fix": "", "first_quote": "", "second_quote": ""}


DOCTORS: dict[str, Any] = {
    "health/scene": challenge,
    "health/facts": {"story_time": "", "places": [], "states": [], "things": [], "acts": []},
    "health/pair": pair,
    "health/theme": {"score": 2, "quote": "I climb alone"},
}


def planned_words() -> int:
    words = sum(
        len((SPECIAL.get((c, s), "Ines counted to 9. ") + FILLER * 9).split())
        for c in TENSION
        for s in (1, 2)
    )
    return round(words / 0.45)


@pytest.mark.req("WF-53", "WF-84", "WF-85", "WF-86", "WF-87", "WF-G23", "WF-G61", "WF-G62")
@pytest.mark.req("WF-G60a", "WF-G60b", "WF-G60c", "WF-G60d", "WF-G60f", "WF-G60g", "WF-G04")
async def test_scenario_12_health(tmp_path: Path) -> None:
    root = settle(tmp_path / "book", project={"planned_total_words": planned_words()})
    script = Script(staff(DOCTORS))
    async with open_novel(root, script) as novel:
        await trouble(novel)
        check = action("run_health_check", scope="manuscript")
        script.add(reply(message("I look at the whole book.", check)))
        script.add(reply(message("She is in two cities at once. Which one is wrong?")))
        turn = await novel.say("How healthy is it?")
        assert turn["actions"][0]["status"] == "executed"
        health = novel.rooms.health
        report = health.latest()
        assert report is not None

        def found(check_id: str, rule: str) -> Any:
            listed = [each for each in report.check(check_id).findings if each.rule == rule]
            return listed[0]

        gap = found("B1_flaw_challenge", "gap")
        assert gap.severity is Severity.WARNING
        assert "12 scenes" in gap.title and "ch1-sc2" in gap.title
        assert [each.quote for each in gap.evidence] == ["the knot slipped"]
        assert gap.recommendation
        midpoint = [
            each
            for each in report.check("A2_beat_progress").findings
            if each.rule == "unwritten" and "Midpoint" in each.title
        ]
        assert [each.severity for each in midpoint] == [Severity.INFO]
        plateau = found("A1_pacing_plateau", "plateau")
        assert plateau.severity is Severity.WARNING
        assert "5: 5.0, 6: 5.4, 7: 5.2" in plateau.title
        places = found("A3_timeline_consistency", "two_places")
        assert places.severity is Severity.ERROR
        assert [each.scene_id for each in places.evidence] == ["ch3-sc1", "ch3-sc2"]
        for each in places.evidence:
            assert each.quote and each.quote in novel.rooms.manuscript.text(each.scene_id)
        symbol = found("C1_symbolic_layering", "recurrence")
        assert (symbol.severity, symbol.entities) == (Severity.INFO, ("lantern",))

        # The alerts stand in the next prompt, the worst first, five at most.
        turn = await novel.hear(message("Aldgate goes. Agreed?"), "And?", model="openai:gpt-4o")
        alerts = alerts_in(novel, turn)
        assert 0 < len(alerts) <= 5
        assert any("A3_timeline_consistency" in each and "Aldgate" in each for each in alerts)
        order = ["error", "warning", "info"]
        ranks = [order.index(re.findall(r'severity="(\w+)"', each)[0]) for each in alerts]
        assert ranks == sorted(ranks)

        # A score the writer does not share: both are shown, and it lasts.
        await health.override_theme("ch1-sc2", 8, "The refusal is the theme turned round.")
        calls = len(script.calls)
        await novel.run("health")
        # Unchanged text: nobody is asked anything.
        assert len(script.calls) == calls
        again = health.latest()
        assert again is not None and again.id != report.id
        rows = again.check("C2_theme_resonance").details["scenes"]
        row = next(each for each in rows if each["scene_id"] == "ch1-sc2")
        assert (row["score"], row["override"]["score"], row["counted"]) == (2, 8, 8)

        # The writer moves the second scene by two days in the file; the alert is gone.
        file = root / novel.rooms.manuscript.path("ch3-sc2")
        file.write_text(file.read_text("utf-8").replace("Day 3, night", "Day 5, night"), "utf-8")
        await novel.run("health")
        turn = await novel.hear(message("Next trouble?"), "And now?", model="openai:gpt-4o")
        assert not any(
            "A3_timeline" in each and "Aldgate" in each for each in alerts_in(novel, turn)
        )
        kept = health.latest()
        assert kept is not None
        rows = kept.check("C2_theme_resonance").details["scenes"]
        row = next(each for each in rows if each["scene_id"] == "ch1-sc2")
        assert row["counted"] == 8


def alerts_in(novel: Novel, turn: Any) -> list[str]:
    """Return the alerts in the prompt of a turn."""
    text = novel.prompt(turn).text
    if "<health_alerts>" not in text:
        return []
    inner = text.split("<health_alerts>")[1].split("</health_alerts>")[0]
    return [each for each in inner.split("<alert ") if each.strip()]
