"""Which model plans, writes, judges and extracts: by route, and by the default for the rest."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from scene_stage import staff

from callboard.models import Line
from callboard.packs.writers_factory.model import FOREMAN, JUDGE, WRITER
from callboard.packs.writers_factory.workspace import EXTRACTION, model_of, route_of

pytestmark = pytest.mark.anyio

SMALL = {"models": {"default": "script", "catalog": {"script:small": {"tier": "minimal"}}}}


def routed(project: Path, **routes: str) -> None:
    path = project / ".callboard" / "writers_factory.yaml"
    path.write_text(yaml.safe_dump({"models": {"routes": routes}}))


@pytest.mark.req("WF-G03")
async def test_an_intent_without_a_route_takes_the_default(story: Any, project: Path) -> None:
    async with story() as stage:
        workspace = stage.workspace
        assert route_of(workspace, JUDGE) is None
        assert {model_of(workspace, each) for each in (FOREMAN, WRITER, JUDGE)} == {"script"}
        routed(project, default="script:usual", prose="script:poet", extraction="script:clerk")
        assert model_of(workspace, FOREMAN) == "script:usual"
        assert model_of(workspace, JUDGE) == "script:usual"
        assert model_of(workspace, WRITER) == "script:poet"
        assert model_of(workspace, WRITER, "script:mine") == "script:mine"
        assert model_of(workspace, JUDGE, intent=EXTRACTION) == "script:clerk"


@pytest.mark.req("WF-G03", "WF-G11")
async def test_scenes_are_planned_by_the_model_that_is_routed_for_structure(
    story: Any, project: Path
) -> None:
    scenes = [{"title": f"Turn {n}", "beat_number": n, "summary": "She acts."} for n in (1, 2)]
    answer = Line(json={"scenes": scenes}, times=None)
    # The Foreman plans, so that it is the Foreman's model that has to be big enough.
    routed(project, structure="script:planner", prose="script:small")
    async with story(staff(plan_scenes=answer), flags={**SMALL}) as stage:
        await stage.result("plan_scenes")
        (asked,) = stage.asked("plan_scenes")
        assert asked.model == "script:planner"


@pytest.mark.req("WF-82")
async def test_a_small_model_that_extracts_is_the_one_that_is_asked(
    story: Any, project: Path
) -> None:
    routed(project, extraction="script:small")
    picked = Line(json={"choice": "something else"}, times=None)
    async with story(staff(memory__name_type=picked), flags={**SMALL}) as stage:
        await stage.brief()
        await stage.result("write_scene", scaffold_id="ch4-sc2", strategies=["BALANCED"])
        text = f"{stage.scenes.variant('ch4-sc2', 'BALANCED').text}\n\nAnd Port Vell was far."
        await stage.scenes.select("ch4-sc2", "BALANCED")
        meta = stage.book.scene("ch4-sc2")
        await stage.book.save("ch4-sc2", text, meta, reason="mine")
        await stage.result("accept", scene_id="ch4-sc2")
        asked = stage.asked("memory/name_type")
        assert asked and {each.model for each in asked} == {"script:small"}
