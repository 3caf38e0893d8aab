"""A scene is accepted although no model can read it; the next consolidation does."""

from typing import Any

import pytest
from scene_stage import SceneStage, callback_text, staff, update

from callboard.core.vocabulary import RunState
from callboard.library.story.contradiction import ScenePoint, value_at
from callboard.models import Failure, Line
from callboard.packs.writers_factory.memory import Consolidator
from callboard.packs.writers_factory.model import SceneStatus

pytestmark = pytest.mark.anyio

FOUND = (
    '{"nodes": [{"type": "character", "name": "Rosa"},'
    ' {"type": "character", "name": "Danny", "attrs": {"status": "injured"}}],'
    ' "edges": [{"src": "Rosa", "dst": "Danny", "type": "loves"}]}'
)
TEXT = f"Rosa bound his arm. Danny was injured, and Rosa loves him.\n\n{callback_text(9)}"


class Reader:
    """Answers extraction prompts with whatever is wanted now."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __call__(self, _request: Any) -> Any:
        return self.answer


def crew(reader: Reader) -> Any:
    return staff(
        scene_variant=lambda _request: update(TEXT),
        memory__extract=reader,
        memory__extract_again=reader,
    )


async def written(stage: SceneStage) -> None:
    await stage.brief()
    await stage.result("write_scene", scaffold_id="ch4-sc2", strategies=["BALANCED"])


def is_extracted(stage: SceneStage) -> bool:
    rosa = stage.graph.find("Rosa", "character")
    danny = stage.graph.node("character:danny")
    assert danny is not None
    states = [
        value_at(danny.attrs, "status", ScenePoint(chapter, scene))
        for chapter, scene in ((4, 1), (4, 2))
    ]
    if rosa is None:
        assert states == [None, None]
        return False
    # Who is hurt in a scene was not before it.
    assert states == [None, "injured"]
    assert rosa.source == "scene:ch4-sc2"
    assert [edge.dst for edge in stage.graph.edges(rosa.id, type="loves")] == ["character:danny"]
    return True


GONE = Line(fail=Failure(status=400, message="the model is gone"), times=None)


@pytest.mark.req("WF-G75", "WF-99", "WF-76")
@pytest.mark.parametrize("answer", [GONE, "I would rather not say."])
async def test_an_acceptance_outlives_its_extraction(story: Any, answer: Any) -> None:
    reader = Reader(answer)
    async with story(crew(reader)) as stage:
        await written(stage)
        run = await stage.run("accept", scene_id="ch4-sc2", variant_id="BALANCED")
        assert run.state is RunState.DONE, run.error
        told = run.result
        assert told["extracted"]["unread"] == 1
        assert "waits for a consolidation" in told["extracted"]["warnings"][-1]
        assert any("the model is gone" in each for each in told["extracted"]["warnings"]) == (
            answer is GONE
        )
        assert told["next_scene"]["scene_id"] == "ch5-sc1"
        assert stage.book.scene("ch4-sc2").status is SceneStatus.DRAFTED
        assert stage.graph.edges(src="scene:ch4-sc2", type="pays_off")
        assert not is_extracted(stage)
        assert Consolidator(stage.workspace).has_work()
    reader = Reader(FOUND)
    async with story(crew(reader)) as stage:
        report = await stage.result("consolidate")
        assert (report["unread"], report["warnings"]) == (0, [])
        assert is_extracted(stage)
        assert not Consolidator(stage.workspace).has_work()
        asked = len(stage.asked("memory/extract"))
        again = await stage.result("consolidate")
        assert (again["events_seen"], again["nodes_added"]) == (0, 0)
        assert len(stage.asked("memory/extract")) == asked


@pytest.mark.req("WF-G75")
async def test_a_scene_accepted_again_is_read_then(story: Any) -> None:
    reader = Reader(GONE)
    async with story(crew(reader)) as stage:
        await written(stage)
        await stage.result("accept", scene_id="ch4-sc2", variant_id="BALANCED")
        await stage.result("consolidate")
        assert Consolidator(stage.workspace).has_work()
        reader.answer = FOUND
        told = await stage.result("accept", scene_id="ch4-sc2")
        assert (told["extracted"]["unread"], told["extracted"]["warnings"]) == (0, [])
        assert is_extracted(stage)
        assert not Consolidator(stage.workspace).has_work()


async def test_code_looks_at_every_text_that_is_accepted(story: Any) -> None:
    async with story(crew(Reader(FOUND))) as stage:
        await written(stage)
        told = await stage.result("accept", scene_id="ch4-sc2", variant_id="BALANCED")
        # Whoever wrote it and whatever a judge thinks of it.
        assert "callback_missing" in [each["code"] for each in told["flags"]]
