"""Scenario 10: the Midpoint scene, from its brief to the graph, led by the Foreman."""

from pathlib import Path
from typing import Any

import pytest
from acceptance_stage import VOICES, Novel, action, message, open_novel, settle, staff

from callboard.knowledge import Edge, Node
from callboard.models import ModelRequest, Script
from callboard.packs.writers_factory.manuscript import parse_scene_id
from callboard.packs.writers_factory.model import PlannedScene, SceneStatus
from callboard.packs.writers_factory.prose import scan
from callboard.packs.writers_factory.scenes.drafts import ScaffoldInvalid

pytestmark = pytest.mark.anyio

TARGET = 120
PLAN = {(1, 1): 1, (1, 2): 3, (2, 1): 5, (3, 1): 7, (4, 1): 8, (4, 2): 9, (5, 1): 11, (6, 1): 15}
OUTLINE = [
    PlannedScene(c, s, f"Scene {c}-{s}", beat, "Ines and Danny.", TARGET)
    for (c, s), beat in PLAN.items()
]
FILLED: dict[str, Any] = {
    # The dead man is the model's own idea; it must not get through.
    "characters_present": ["Ines", "Danny", "Marek", "Background: dock workers"],
    "pov_character": "Ines",
    "location": "Tide office",
    "time_of_day": "dusk",
    "weather": "rain",
    "protagonist_constraint": "She may not ask for help.",
    "scene_goal": "Ines wants the vote; Danny stands in the way; she wins it by a lie.",
    "conflict": "Danny knows the log.",
    "outcome": "She wins and is bound by it.",
    "emotional_note": "brittle triumph",
}


def story() -> tuple[list[Node], list[Edge]]:
    """Return who there is, who is dead, what was planted, and what is to come."""
    dead = {"alive": "dead", "states": {"alive": [{"value": "dead", "since_scene": "ch3-sc1"}]}}
    nodes = [
        Node("character:ines-varga", "character", "Ines Varga", ("Ines",)),
        Node("character:danny", "character", "Danny"),
        Node("character:marek", "character", "Marek", attrs=dead),
        Node("location:tide-office", "location", "Tide office"),
        *(Node(f"scene:{each.id}", "scene", each.id) for each in OUTLINE if each.id != "ch4-sc2"),
        Node("object:brass-key", "object", "brass key"),
        Node("object:torn-page", "object", "torn page"),
        Node("object:late-letter", "object", "late letter"),
        Node("event:the-flood", "event", "The flood breaks the wall"),
        Node("event:the-storm", "event", "The first storm"),
    ]
    edges = [
        Edge("scene:ch1-sc2", "object:brass-key", "plants"),
        Edge("scene:ch1-sc1", "object:torn-page", "plants"),
        Edge("scene:ch5-sc1", "object:late-letter", "plants"),
        Edge("character:ines-varga", "object:brass-key", "knows"),
        Edge("character:danny", "object:torn-page", "knows"),
        Edge("character:ines-varga", "object:late-letter", "knows"),
        Edge("event:the-flood", "beat:beat-11", "serves_beat"),
        Edge("event:the-flood", "character:danny", "involves"),
        Edge("event:the-storm", "beat:beat-4", "serves_beat"),
        Edge("event:the-storm", "character:ines-varga", "involves"),
    ]
    return nodes, edges


def prose(start: int, name: str) -> str:
    """Return a paragraph no other variant shares five words in a row with."""
    rows = [f"{name} passed the {start + n}th post and did not {start + n}x." for n in range(5)]
    return " ".join(rows)


def write(request: ModelRequest) -> str:
    """Write the scene in one of three ways; every one pays the key and hints at the flood."""
    start = 1000 * next(
        number
        for number, word in enumerate(("action", "character", "balanced"), start=1)
        if f"Approach: {word}" in request.prompt_text.lower().replace("approach", "Approach")
    )
    opening = f"Ines laid the brass key on the log, {start} grains of salt on it. "
    second = f"Danny looked at the flood marks, {start} lines on the wall. "
    text = f"{opening}{prose(start, 'Ines')}\n\n{second}{prose(start + 50, 'Danny')}"
    return f"Here it is!\n<content_update target='ch4-sc2'>\n{text}\n</content_update>"


def judge(request: ModelRequest) -> dict[str, Any]:
    """Judge the accepted scene."""
    asked = dict(request.json_schema or {}).get("properties", {})
    more: dict[str, Any] = {name: [] for name in ("functions", "symbols") if name in asked}
    quote = "Ines laid the brass key on the log"
    challenge = {"type": "test", "intensity": 6, "quote": quote}
    return {**more, "tension": 7, "challenge": challenge}


def answers() -> dict[str, Any]:
    return {
        **VOICES,
        "scene_scaffold": FILLED,
        "scene_variant": write,
        "health/scene": judge,
        "memory/extract": '{"nodes": [], "edges": []}',
    }


async def to_the_middle(novel: Novel) -> None:
    """Bring a book to the scene of its Midpoint."""
    await novel.found()
    await novel.rooms.modes.advance("VOICE_CALIBRATION", by="writer")
    await novel.calibrate()
    await novel.rooms.modes.advance("DIRECTOR", by="writer")
    await novel.factory.consolidator.ingest()
    await novel.rooms.memory.graph.merge(*story())
    await novel.rooms.scenes.approve_outline(OUTLINE)


@pytest.mark.req("WF-76", "WF-93", "WF-94", "WF-95", "WF-96", "WF-97", "WF-98", "WF-99", "WF-21")
@pytest.mark.req("WF-G68", "WF-G69", "WF-G70", "WF-G71", "WF-G73", "WF-G74", "WF-G75", "WF-52")
async def test_scenario_10_scaffold_to_scene(tmp_path: Path) -> None:
    async with open_novel(settle(tmp_path / "book"), Script(staff(answers()))) as novel:
        await to_the_middle(novel)
        rooms = novel.rooms
        brief = action("generate_scaffold", chapter=4, scene=2, title="The Vote")
        turn = await novel.hear(message("The Midpoint. I will now brief it.", brief), "Next one.")
        made = await novel.job(turn, "generate_scaffold")
        assert made["scaffold_id"] == "ch4-sc2"
        assert made["beat_alignment"] == "Midpoint – false victory"
        assert {each["name"] for each in made["callbacks"]} == {"brass key", "torn page"}
        planted = [parse_scene_id(each["scene_id"]) or (9, 9) for each in made["callbacks"]]
        assert all(place < (4, 2) for place in planted)
        assert made["foreshadowing"][0]["name"] == "The flood breaks the wall"
        assert all(each["beat_number"] > 9 for each in made["foreshadowing"])
        assert made["flaw_challenge"] is True and made["word_target"] == TARGET
        # The dead stay dead, whoever asks for them.
        assert "Marek" not in made["characters_present"]
        assert any("Marek" in told for told in made["warnings"])
        with pytest.raises(ScaffoldInvalid, match="Marek is dead"):
            living = {"characters_present": ["Ines", "Marek"]}
            await rooms.scenes.approve_scaffold("ch4-sc2", living)
        assert rooms.scenes.active_scaffold() is None

        await rooms.scenes.approve_scaffold("ch4-sc2")
        draft = action("write_scene", scaffold_id="ch4-sc2", word_target=TARGET)
        turn = await novel.hear(
            message("Three ways in. I will now draft them.", draft), "Good.", model="openai:gpt-4o"
        )
        shown = novel.prompt(turn).text
        assert "<active_scaffold>" in shown and "Midpoint – false victory" in shown
        await novel.job(turn, "write_scene")
        variants = rooms.scenes.variants("ch4-sc2")
        assert len(variants) == 3
        for variant in variants:
            assert abs(variant.word_count - TARGET) <= 0.15 * TARGET
            assert not [hit for hit in scan(variant.text) if hit.severity == "zero_tolerance"]
            assert "Here it is!" not in variant.text

        parts = "ACTION_EMPHASIS#1, BALANCED#2"
        join = action("create_hybrid", scene_id="ch4-sc2", parts=parts)
        turn = await novel.hear(message("Joined, then. Does it hold?", join), "One and two.")
        hybrid = await novel.job(turn, "create_hybrid")
        assert hybrid["provenance"] == [
            "ch4-sc2:ACTION_EMPHASIS:1#1",
            "ch4-sc2:BALANCED:1#2",
        ]
        take = action("select_variant", scene_id="ch4-sc2", variant_id=hybrid["id"])
        turn = await novel.hear(message("Taken. Do you accept it?", take), "That one.")
        assert turn["actions"][0]["status"] == "executed"
        # Taken is not accepted: that is the writer's word.
        assert rooms.manuscript.scene("ch4-sc2").status is SceneStatus.SELECTED

        accepted = await novel.run("accept", scene_id="ch4-sc2")
        file = novel.root / "content/Manuscript/Chapter_04/Scene_02.md"
        assert hybrid["text"] in file.read_text("utf-8")
        assert rooms.manuscript.scene("ch4-sc2").status is SceneStatus.DRAFTED
        graph = rooms.memory.graph
        assert graph.node("scene:ch4-sc2") is not None
        edges = {(edge.src, edge.type, edge.dst) for edge in graph.edges()}
        for who in ("ines-varga", "danny"):
            assert (f"character:{who}", "present_in", "scene:ch4-sc2") in edges
        assert ("scene:ch4-sc2", "pays_off", "object:brass-key") in edges
        assert ("scene:ch4-sc2", "pays_off", "object:torn-page") not in edges
        assert ("scene:ch4-sc2", "plants", "event:the-flood") in edges
        assert ("scene:ch4-sc2", "serves_beat", "beat:beat-9") in edges
        assert accepted["next_scene"]["scene_id"] == "ch5-sc1"
        assert rooms.health.flaw_gap() == 0
        # What was paid is no debt any more.
        again = await novel.run("scaffold", chapter=5, scene=1, title="After")
        assert "brass key" not in [each["name"] for each in again["callbacks"]]
