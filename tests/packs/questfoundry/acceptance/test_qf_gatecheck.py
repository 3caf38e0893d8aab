"""Scenarios 3 and 9: blocks that send work back, and the way into Cold."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from questkit import TOPOLOGY, Company, changed, drafts, open_house

from callboard.core.ids import IdMaker
from callboard.packs.questfoundry.by_code import gate_by_code
from callboard.packs.questfoundry.cold.snapshots import BaseMoved
from callboard.packs.questfoundry.operations import defer_unit, operations_on
from callboard.packs.questfoundry.units.unit import InvalidTransition, UnitStatus
from warm_process import call_warm

pytestmark = pytest.mark.anyio

DANGLING = changed(TOPOLOGY, "choices", 1, "to", value="attic")
ROUGH = drafts(pier="You stand on the pier. The tower is dark, and so is the sea.")


def first_try() -> dict[Any, list[Any]]:
    """Return lines for a first pass that leads nowhere, with prose that will change, too."""
    return {
        "step_1_topology_draft": [{"topology_notes": DANGLING}],
        "step_3_prose_pass": [{"scene_drafts": ROUGH}],
    }


UNREACHABLE = changed(TOPOLOGY, "gateways", 0, "condition_key", value="has_key")


@pytest.mark.req("QF-42", "QF-93")
async def test_gate_block_and_revision(tmp_path: Path) -> None:
    company = Company(says=first_try())
    async with open_house(tmp_path / "book", company) as house:
        ran = await house.success("story_spark")
        order = [key.split("/")[1] for key, _ in company.calls]
        assert order.count("step_1_topology_draft") == 2
        assert order.count("step_7_preview_gate") == 2
        assert order.count("step_2_section_briefs") == order.count("step_3_prose_pass") == 2
        # Steps 4 to 6 rest on what changed: each was stale and is done again, none is left so.
        for step in ("step_5_style_check", "step_6_feasibility_check"):
            assert order.count(step) == 2, step
        assert order.count("step_4_hook_generation") == 4
        assert {*ran.result.steps.values()} == {"done"}
        stale = [each["steps"] for each in ran.events("step.started")][8:9]
        assert [name[:6] for name, how in stale[0].items() if how == "stale"] == [
            "step_2",
            "step_3",
            "step_4",
            "step_5",
            "step_6",
        ]
        reports = house.foundry.shelf.all("gatecheck_report", ran.unit.id)
        decisions = [house.foundry.shelf.body(each.sha256)["decision"] for each in reports]
        assert decisions == ["block", "pass"]
        first = house.foundry.shelf.body(reports[0].sha256)
        (dead,) = [row for row in first["findings"] if row["check"] == "dead_link"]
        assert "attic" in dead["evidence"] and dead["owner_role"] == "plotwright"
        assert dead["target_step"] == "step_1_topology_draft"


@pytest.mark.req("QF-40", "QF-42")
async def test_after_a_block_optional_steps_may_be_dropped_with_a_reason_on_record(
    tmp_path: Path,
) -> None:
    company = Company(says=first_try())
    steps = [f"step_{n}" for n in (1, 2, 3, 4, 5, 6, 7, 1, 2, 3)]
    company.decides["next"] = [{"step": each, "reason": "as usual"} for each in steps]
    drop = [{"step": f"step_{n}", "reason": "the prose is the same"} for n in (4, 5, 6)]
    company.decides["next"].append({"step": "step_7", "reason": "enough", "drop": drop})
    async with open_house(tmp_path / "book", company) as house:
        ran = await house.success("story_spark", policy="llm")
        for name in ("step_4_hook_generation", "step_5_style_check", "step_6_feasibility_check"):
            assert ran.result.steps[name] == "skipped"
            told = [e for e in ran.events("step.finished") if e["step"] == name][-1]
            assert (told["status"], told["why"]) == ("skipped", "the prose is the same")
        # What they had made counts no more, and stays in the history.
        assert not {"hooks", "style_feedback", "feasibility_notes"} & {*ran.result.artifacts}
        (gone,) = house.foundry.shelf.all("style_feedback", ran.unit.id)
        assert gone.withdrawn == "the prose is the same"
        assert ran.result.next_loop is None


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


@pytest.mark.req("QF-118", "QF-120")
async def test_a_keystone_out_of_reach_blocks_until_it_is_mended(tmp_path: Path) -> None:
    company = Company()
    async with open_house(tmp_path / "book", company) as house:
        company.usual["topology_notes"] = UNREACHABLE
        spark = await house.run("story_spark")
        assert spark.result.status == "stalled"
        gate = await house.success("gatecheck", upstream=[spark.unit.id])
        report = house.content(gate, "gatecheck_report")
        assert report["decision"] == "block"
        lost = [row for row in report["findings"] if row["bar"] == "reachability"]
        assert "relit" in {row["place"] for row in lost if row["status"] == "red"}
        remedies = [row for row in report["remediation"] if row["bar"] == "reachability"]
        assert {row["owner_role"] for row in remedies} == {"plotwright"}
        assert {row["target_step"] for row in remedies} == {"step_1_topology_draft"}
        unit = house.foundry.units.find(spark.unit.id)
        assert unit.status is UnitStatus.STABILIZING
        assert any("relit" in each["reason"] for each in unit.revisions)
        assert gate.result.next_loop == "story_spark"
        # Mended in the same unit: the first step is taken again because the gatecheck asked.
        company.usual["topology_notes"] = TOPOLOGY
        company.calls.clear()
        mended = await house.success("story_spark", unit=spark.unit.id)
        assert company.calls[0][0].split("/")[1] == "step_1_topology_draft"
        passed = await house.success("gatecheck", upstream=[mended.unit.id])
        assert house.content(passed, "gatecheck_report")["decision"] == "pass"
        tip = house.foundry.cold.tip()
        assert tip is not None and not house.foundry.cold.verify(tip)
        unit = house.foundry.units.find(spark.unit.id)
        assert unit.status is UnitStatus.COLD_MERGED and unit.snapshot == tip.id
        with pytest.raises(InvalidTransition):
            await operations_on(house.studio).perform(defer_unit, unit.id, "x", "y")


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


class Meanwhile(IdMaker):
    """Makes ids, and lets somebody else do something just when the gatecheck needs one."""

    def __init__(self, clock: Any, act: Callable[[], None]) -> None:
        super().__init__(clock)
        self._act = act

    def make(self, kind: str) -> str:
        if kind == "session":
            self._act()
        return super().make(kind)


@pytest.mark.req("QF-120")
async def test_what_is_merged_while_code_judges_makes_the_judgement_worth_nothing(
    tmp_path: Path,
) -> None:
    root = tmp_path / "book"
    async with open_house(root) as house:
        first = await house.success("story_spark")
        await operations_on(house.studio).perform(gate_by_code, (first.unit.id,))
        base, tip = [each.id for each in house.foundry.cold.all()]
        second = await house.success("story_spark")

        def select() -> None:
            called = call_warm("quest", "snapshots", "--select", base, cwd=root)
            assert called.returncode == 0, called.stderr

        # The book is judged by then, on what counted before.
        house.studio.ids = Meanwhile(house.studio.clock, select)
        with pytest.raises(BaseMoved, match=f"judged on {tip}"):
            await operations_on(house.studio).perform(gate_by_code, (second.unit.id,))
        assert [each.id for each in house.foundry.cold.all()] == [base, tip]
        assert [each.loop for each in house.foundry.units.all()].count("gatecheck") == 1
