"""Scenario 2: a straight pass of Story Spark."""

from pathlib import Path

import pytest
from questkit import open_house

pytestmark = pytest.mark.anyio


@pytest.mark.req("QF-101", "QF-103")
async def test_story_spark_straight_pass(tmp_path: Path) -> None:
    async with open_house(tmp_path / "book") as house:
        ran = await house.success("story_spark")
        result = ran.result
        assert len(house.company.calls) == 8
        assert set(result.artifacts) == {
            "topology_notes",
            "section_briefs",
            "scene_drafts",
            "hooks",
            "style_feedback",
            "feasibility_notes",
            "gatecheck_report",
        }
        report = house.content(ran, "gatecheck_report")
        assert (report["decision"], report["findings"]) == ("pass", [])
        assert result.next_loop == "hook_harvest" and result.next_inputs == ("hooks",)
        assert ran.unit.outcome == "success" and ran.unit.ready_for_gate
        assert ran.unit.status == "stabilizing" and ran.unit.next_loop == "hook_harvest"
        assert ran.events("checkpoint") and ran.events("role.dormant")
        (proposed,) = house.foundry.hooks.in_state("proposed")
        assert proposed.title == "Who lit the lamp last?"
