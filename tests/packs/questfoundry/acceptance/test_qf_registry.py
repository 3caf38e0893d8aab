"""Scenario 1: thirteen loops, and one more by adding a file."""

from pathlib import Path

import pytest
import yaml
from questkit import open_house

from callboard.choreography.loop import UnknownLoop
from callboard.packs.questfoundry.foundry import read_registry
from callboard.packs.questfoundry.steps.checks import QuestChecks
from callboard.studio.project import Project

pytestmark = pytest.mark.anyio

THIRTEEN = {
    "story_spark",
    "hook_harvest",
    "lore_deepening",
    "codex_expansion",
    "style_tune_up",
    "gatecheck",
    "binding_run",
    "narration_dry_run",
    "art_touch_up",
    "audio_pass",
    "translation_pass",
    "post_mortem",
    "archive_snapshot",
}


@pytest.mark.req("QF-01", "QF-11", "QF-12", "QF-16")
def test_thirteen_loops_in_ninety_one_lines() -> None:
    registry = read_registry()
    assert set(registry.names()) == THIRTEEN
    assert len(registry.rendered.splitlines()) <= 95
    table = yaml.safe_load(registry.rendered)
    assert list(table) == sorted(THIRTEEN)
    assert all(list(each) == sorted(each) for each in table.values())
    assert registry.dangling() == ()
    assert registry.get("canon_weaving").id == "lore_deepening"
    assert registry.get("final_review").id == "gatecheck"
    with pytest.raises(UnknownLoop, match="Unknown loop: story_spork") as unknown:
        registry.get("story_spork")
    assert "story_spark" in (unknown.value.fix or "")


async def test_every_loop_names_code_that_exists_and_artifacts_with_a_shape(
    tmp_path: Path,
) -> None:
    from callboard.packs.questfoundry.artifacts.catalog import shapes

    async with open_house(tmp_path / "book") as house:
        known = QuestChecks(house.foundry).names()
        for loop in read_registry().loops():
            for step in loop.steps:
                named = {step.code, step.before, step.after, step.condition} - {None}
                assert named <= known, (loop.id, step.id)
                assert {*step.produces, *step.needs} <= {*shapes()}, (loop.id, step.id)


@pytest.mark.req("QF-13")
async def test_a_loop_of_the_projects_own_is_one_file_more(tmp_path: Path) -> None:
    root = tmp_path / "book"
    Project.init(root, pack="questfoundry")
    folder = root / ".callboard" / "loops"
    folder.mkdir()
    from callboard.packs.questfoundry.foundry import _FOLDER

    text = (_FOLDER / "loops" / "story_spark.yaml").read_text()
    (folder / "night_watch.yaml").write_text(text.replace("id: story_spark", "id: night_watch"))
    (folder / "broken.yaml").write_text(
        text.replace("id: story_spark", "id: broken").replace("purpose:", "purpos:")
    )
    async with open_house(root) as house:
        assert set(house.foundry.registry.names()) == {*THIRTEEN, "night_watch"}
        (problem,) = house.foundry.loop_problems
        assert "broken.yaml" in problem and "purpose" in problem
        ran = await house.success("night_watch")
        assert ran.unit.loop == "night_watch"
