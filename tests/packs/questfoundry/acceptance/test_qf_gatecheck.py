"""Scenarios 3 and 9: blocks that send work back, and the way into Cold."""

from pathlib import Path

import pytest
from questkit import TOPOLOGY, Company, changed, open_house

from callboard.packs.questfoundry.by_code import gate_by_code
from callboard.packs.questfoundry.operations import defer_unit, operations_on
from callboard.packs.questfoundry.units.unit import InvalidTransition, UnitStatus

pytestmark = pytest.mark.anyio

DANGLING = changed(TOPOLOGY, "choices", 1, "to", value="attic")
UNREACHABLE = changed(TOPOLOGY, "gateways", 0, "condition_key", value="has_key")


@pytest.mark.req("QF-42", "QF-93")
async def test_gate_block_and_revision(tmp_path: Path) -> None:
    company = Company(says={"step_1_topology_draft": [{"topology_notes": DANGLING}]})
    async with open_house(tmp_path / "book", company) as house:
        ran = await house.success("story_spark")
        order = [key.split("/")[1] for key, _ in company.calls]
        assert order.count("step_1_topology_draft") == 2
        assert order.count("step_7_preview_gate") == 2
        assert order.count("step_2_section_briefs") == order.count("step_3_prose_pass") == 2
        reports = house.foundry.shelf.all("gatecheck_report", ran.unit.id)
        decisions = [house.foundry.shelf.body(each.sha256)["decision"] for each in reports]
        assert decisions == ["block", "pass"]
        first = house.foundry.shelf.body(reports[0].sha256)
        (dead,) = [row for row in first["findings"] if row["check"] == "dead_link"]
        assert "attic" in dead["evidence"] and dead["owner_role"] == "plotwright"
        assert dead["target_step"] == "step_1_topology_draft"


@pytest.mark.req("QF-45")
async def test_blocked_three_times_the_unit_is_deferred(tmp_path: Path) -> None:
    worse = [changed(DANGLING, "choices", 1, "to", value=name) for name in ("attic", "loft", "hut")]
    company = Company(says={"step_1_topology_draft": [{"topology_notes": w} for w in worse]})
    async with open_house(tmp_path / "book", company) as house:
        ran = await house.run("story_spark")
        assert ran.result.status == "stalled"
        assert ran.unit.status is UnitStatus.DEFERRED and ran.unit.outcome == "stalled"
        assert "blocked 3 times" in (ran.unit.reason or "") and ran.unit.revisit


@pytest.mark.req("QF-92", "QF-93")
async def test_a_gatekeeper_who_passes_red_changes_nothing(tmp_path: Path) -> None:
    company = Company()
    company.usual["topology_notes"] = UNREACHABLE
    green = {"bar": "reachability", "status": "green", "evidence": "It looks fine to me."}
    company.usual["gatecheck_report"] = {"mode": "pre_gate", "decision": "pass", "bars": [green]}
    async with open_house(tmp_path / "book", company) as house:
        ran = await house.run("story_spark")
        assert ran.result.status == "stalled"


@pytest.mark.req("QF-118", "QF-119", "QF-120")
async def test_gatecheck_and_cold(tmp_path: Path) -> None:
    company = Company()
    async with open_house(tmp_path / "book", company) as house:
        spark = await house.success("story_spark")
        before = house.foundry.cold.tip()
        assert before is not None
        # Somebody breaks a keystone's only way after the preview.
        broken = await house.success(
            "story_spark", unit=spark.unit.id, brief="another key for the bolt"
        )
        assert broken.unit.id == spark.unit.id
        gate = await house.success("gatecheck", upstream=[spark.unit.id])
        report = house.content(gate, "gatecheck_report")
        assert report["decision"] == "pass"
        assert {row["bar"] for row in report["bars"]} == {
            "integrity",
            "reachability",
            "nonlinearity",
            "gateways",
            "style",
            "determinism",
            "presentation",
            "accessibility",
        }
        assert all(row["evidence"] for row in report["bars"])
        tip = house.foundry.cold.tip()
        assert tip is not None and tip.parent == before.id and tip.tus == (spark.unit.id,)
        assert not house.foundry.cold.verify(tip)
        unit = house.foundry.units.find(spark.unit.id)
        assert unit.status is UnitStatus.COLD_MERGED and unit.snapshot == tip.id
        with pytest.raises(InvalidTransition):
            unit.moved(UnitStatus.STABILIZING)
        assert gate.result.next_loop == "binding_run"
        book = house.foundry.cold_book(tip)
        assert len(book.sections) == 8 and book.by_id["box"].text.startswith("You lift")


@pytest.mark.req("QF-118")
async def test_what_a_gatecheck_blocks_goes_back_with_its_fix(tmp_path: Path) -> None:
    company = Company()
    # The preview does not ask for the style; the gatecheck does.
    company.usual["scene_drafts"] = changed(
        company.usual["scene_drafts"], "sections", 0, "text_md", value="I stood on the pier. I ran."
    )
    bad = {
        "bar": "style",
        "status": "red",
        "evidence": "pier speaks in the first person",
        "smallest_fix": "say you, not I",
        "owner_role": "scene_smith",
        "target_step": "step_3_prose_pass",
    }
    company.usual["bar_results"] = {"bars": [bad]}
    async with open_house(tmp_path / "book", company) as house:
        spark = await house.success("story_spark")
        gate = await house.success("gatecheck")
        report = house.content(gate, "gatecheck_report")
        assert report["decision"] == "block"
        remedies = [row for row in report["remediation"] if row["bar"] == "style"]
        assert remedies and {row["owner_role"] for row in remedies} <= {"scene_smith", "style_lead"}
        assert all(row["target_step"] for row in remedies)
        unit = house.foundry.units.find(spark.unit.id)
        assert unit.status is UnitStatus.STABILIZING and not unit.ready_for_gate
        assert house.content(gate, "merge_decision")["action"] == "rework"
        tip = house.foundry.cold.tip()
        assert tip is not None and tip.tus == ()


@pytest.mark.req("QF-84", "QF-118")
@pytest.mark.parametrize("by_code", [True, False])
async def test_what_was_put_off_is_judged_only_by_name(tmp_path: Path, by_code: bool) -> None:
    async with open_house(tmp_path / "book") as house:
        perform = operations_on(house.studio).perform
        first = await house.success("story_spark")
        second = await house.success("story_spark")
        await perform(defer_unit, first.unit.id, "not yet", "in spring")

        async def gate(*units: str) -> None:
            if by_code:
                await perform(gate_by_code, units)
            else:
                await house.success("gatecheck", upstream=list(units))

        def standing(unit: str) -> UnitStatus:
            return house.foundry.units.find(unit).status

        await gate()
        assert standing(second.unit.id) is UnitStatus.COLD_MERGED
        assert standing(first.unit.id) is UnitStatus.DEFERRED
        await gate(first.unit.id)
        assert standing(first.unit.id) is UnitStatus.COLD_MERGED
