"""Acceptance scenario 10: from a scaffold at the Midpoint to an accepted scene in the graph."""

from typing import Any

import pytest
from scene_stage import callback_text, staff, strategy_in, update

from callboard.packs.writers_factory.health import Health
from callboard.packs.writers_factory.manuscript import parse_scene_id
from callboard.packs.writers_factory.model import SceneStatus
from callboard.packs.writers_factory.prose import scan
from callboard.packs.writers_factory.scenes.drafts import ScaffoldInvalid

pytestmark = pytest.mark.anyio


@pytest.mark.req("WF-76", "WF-93", "WF-94", "WF-95", "WF-96", "WF-97", "WF-98", "WF-99")
@pytest.mark.req("WF-G68", "WF-G69", "WF-G71", "WF-G73", "WF-G74", "WF-G75")
async def test_scenario_10_scaffold_to_scene(story: Any) -> None:
    async with story() as stage:
        made = await stage.result("scaffold", chapter=4, scene=2, title="The Vote")
        assert made["scaffold_id"] == "ch4-sc2"
        assert made["beat_alignment"] == "Midpoint – false victory"
        assert made["flaw_challenge"] is True
        assert [each["name"] for each in made["callbacks"]] == ["ledger page", "brass key"]
        assert all(parse_scene_id(each["scene_id"]) < (4, 2) for each in made["callbacks"])
        names = [each["name"] for each in made["foreshadowing"]]
        assert "The flood breaks the wall" in names
        assert all(each["beat_number"] > 9 for each in made["foreshadowing"])
        assert len(names) <= 3
        assert made["warnings"] == []

        with pytest.raises(ScaffoldInvalid, match="Marek is dead"):
            changed = {"characters_present": ["Ines", "Marek"]}
            await stage.scenes.approve_scaffold("ch4-sc2", changed)
        assert stage.scenes.active_scaffold() is None
        approved = await stage.scenes.approve_scaffold("ch4-sc2")
        assert stage.scenes.active_scaffold() == approved
        assert stage.book.scene("ch4-sc2").status is SceneStatus.SCAFFOLDED

        written = await stage.result("write_scene", scaffold_id="ch4-sc2")
        variants = stage.scenes.variants("ch4-sc2")
        assert [each.strategy for each in variants] == [
            "ACTION_EMPHASIS",
            "CHARACTER_DEPTH",
            "BALANCED",
        ]
        assert [each["id"] for each in written["variants"]] == [each.id for each in variants]
        for variant in variants:
            assert abs(variant.word_count - 100) <= 15
            assert not [h for h in scan(variant.text) if h.severity == "zero_tolerance"]
            assert (stage.root / variant.path).read_text().strip() == variant.text
        assert stage.book.scene("ch4-sc2").status is SceneStatus.VARIANTS_READY

        parts = [
            {"variant": "ACTION_EMPHASIS", "paragraphs": "1"},
            {"variant": "CHARACTER_DEPTH", "paragraphs": "2-3"},
        ]
        hybrid = await stage.result("hybrid", scene_id="ch4-sc2", parts=parts)
        assert hybrid["provenance"] == [
            "ch4-sc2:ACTION_EMPHASIS:1#1",
            "ch4-sc2:CHARACTER_DEPTH:1#2",
            "ch4-sc2:CHARACTER_DEPTH:1#3",
        ]
        await stage.scenes.select("ch4-sc2", hybrid["id"])
        assert stage.book.scene("ch4-sc2").status is SceneStatus.SELECTED

        accepted = await stage.result("accept", scene_id="ch4-sc2")
        assert stage.book.text("ch4-sc2") == hybrid["text"]
        meta = stage.book.scene("ch4-sc2")
        assert (meta.status, meta.tension, meta.pov) == (SceneStatus.DRAFTED, 7, "Ines")
        assert (stage.root / "content/Manuscript/Chapter_04/Scene_02.md").is_file()
        graph = stage.graph
        node = graph.node("scene:ch4-sc2")
        assert node is not None
        assert {name: node.attrs[name] for name in ("title", "chapter", "scene", "status")} == {
            "title": "The Vote",
            "chapter": 4,
            "scene": 2,
            "status": "drafted",
        }
        assert (node.attrs["pov"], node.attrs["tension"]) == ("Ines", 7)
        assert node.attrs["word_count"] == meta.word_count
        (challenge,) = Health(stage.workspace).challenges()
        assert (challenge.scene_id, challenge.detected_by) == ("ch4-sc2", "llm")
        assert challenge.quote in hybrid["text"]
        edges = {(edge.src, edge.type, edge.dst) for edge in graph.edges()}
        assert ("character:ines", "present_in", "scene:ch4-sc2") in edges
        assert ("character:danny", "present_in", "scene:ch4-sc2") in edges
        assert ("scene:ch4-sc2", "located_in", "location:harbour-office") in edges
        assert ("scene:ch4-sc2", "serves_beat", "beat:beat-9") in edges
        assert ("scene:ch4-sc2", "pays_off", "object:brass-key") in edges
        assert ("scene:ch4-sc2", "pays_off", "object:ledger-page") not in edges
        assert ("scene:ch4-sc2", "plants", "event:the-flood") in edges
        assert accepted["next_scene"]["scene_id"] == "ch5-sc1"
        assert stage.scenes.active_scaffold() is None


@pytest.mark.req("WF-G75")
async def test_a_scene_accepted_anew_leaves_nothing_of_the_old_one_in_the_graph(
    story: Any,
) -> None:
    plain = update("Ines walked home alone through the rain. " * 12)

    def answer(request: Any) -> str:
        is_first = strategy_in(request) == "BALANCED"
        return update(callback_text(9)) if is_first else plain

    async with story(staff(scene_variant=answer)) as stage:
        await stage.brief()
        await stage.result("write_scene", scaffold_id="ch4-sc2", strategies=["BALANCED", "ACTION"])
        await stage.result("accept", scene_id="ch4-sc2", variant_id="BALANCED")
        assert stage.graph.edges(src="scene:ch4-sc2", type="pays_off")
        await stage.result("accept", scene_id="ch4-sc2", variant_id="ACTION_EMPHASIS")
        assert not stage.graph.edges(src="scene:ch4-sc2", type="pays_off")
        assert stage.graph.edges(src="character:ines", dst="scene:ch4-sc2")
        assert stage.book.version_text("ch4-sc2", 1).startswith("Ines put the brass key")


@pytest.mark.req("WF-G75")
async def test_who_is_there_and_what_a_beat_is_called_plant_nothing(story: Any) -> None:
    coming = [
        {"id": "beat:beat-12", "name": "Dark Night of the Soul: Ines burns the ledger"},
        {"id": "beat:beat-14", "name": "Finale: Ines rows the salt to the far pier"},
    ]
    numbers = (12, 14)
    threads = [{**each, "beat_number": at} for each, at in zip(coming, numbers, strict=True)]
    text = update("Ines walked home in the dark night and looked at the pier and the salt. " * 7)
    async with story(staff(scene_variant=lambda _request: text)) as stage:
        await stage.brief(callbacks=[], foreshadowing=threads)
        await stage.result("write_scene", scaffold_id="ch4-sc2", strategies=["BALANCED"])
        await stage.result("accept", scene_id="ch4-sc2", variant_id="BALANCED")
        planted = [edge.dst for edge in stage.graph.edges(src="scene:ch4-sc2", type="plants")]
        assert planted == ["beat:beat-14"]
        assert stage.book.scene("ch4-sc2").foreshadowing == (coming[1]["name"],)
