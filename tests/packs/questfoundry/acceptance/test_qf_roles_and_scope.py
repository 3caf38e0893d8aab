"""Scenarios 4 to 7: invalid output, overrides, company, scope."""

from pathlib import Path

import pytest
from questkit import TOPOLOGY, Company, changed, drafts, envelope, hook, open_house

from callboard.core.vocabulary import RunState, SignalKind
from callboard.packs.questfoundry.units.unit import UnitStatus
from callboard.store.journal.questions import list_questions
from callboard.studio.project import Project
from callboard.testing.witness import finish

pytestmark = pytest.mark.anyio

NAMELESS = {"hooks": {"hooks": [hook("A bell"), {**hook("x"), "title": ""}]}}


@pytest.mark.req("QF-44", "QF-80")
async def test_a_hook_without_a_title_is_mended_on_the_second_reply(tmp_path: Path) -> None:
    company = Company(says={("step_4_hook_generation", "plotwright"): [NAMELESS]})
    async with open_house(tmp_path / "book", company) as house:
        ran = await house.success("story_spark")
        assert len(company.calls) == 9
        repair = next(text for key, _, text in company.prompts if "repair" in key)
        assert "hooks.1.title" in repair
        assert len(house.content(ran, "hooks")["hooks"]) == 1


@pytest.mark.req("QF-44")
async def test_what_is_never_valid_is_never_stored(tmp_path: Path) -> None:
    company = Company(says={"step_1_topology_draft": [{"topology_notes": {}}] * 20})
    async with open_house(tmp_path / "book", company) as house:
        ran = await house.run("story_spark")
        assert ran.run.state is RunState.FAILED
        assert "start" in str(ran.run.error)
        assert ran.unit.outcome == "failed" and ran.unit.made == {}
        assert house.foundry.shelf.all("topology_notes") == []


@pytest.mark.req("QF-44", "QF-45")
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [("retry", "success"), ("accept what there is, deferred", "stalled"), ("abort", "failed")],
)
async def test_where_a_human_is_there_they_are_asked_what_becomes_of_it(
    tmp_path: Path, answer: str, outcome: str
) -> None:
    """Three attempts of one call and two repairs each; then the question, by index and field."""
    bad = {"section_briefs": {"briefs": [{"section_id": "pier"}]}}
    company = Company(says={"step_2_section_briefs": [bad] * 9})
    async with open_house(tmp_path / "book", company) as house:
        args = {"policy": "playbook"}
        started = await house.studio.start("questfoundry/story_spark", args)
        waiting = await house.studio.engine.wait(started.id, settled=True)
        assert waiting.state is RunState.WAITING
        (asked,) = house.studio.database.read(list_questions)
        assert "briefs.0.intent" in asked.question.text
        assert len(company.calls) == 10 and house.foundry.shelf.all("section_briefs") == []
        (unit,) = house.foundry.units.all()
        assert unit.outcome == "" and unit.status is UnitStatus.STABILIZING
        run = await finish(house.studio, started.id, {asked.key: answer})
        (unit,) = house.foundry.units.all()
        assert unit.outcome == outcome, run.error
        assert bool(house.foundry.shelf.all("section_briefs")) is (outcome == "success")


@pytest.mark.req("QF-85")
async def test_how_a_run_ended_stands_beside_the_state_of_its_unit(tmp_path: Path) -> None:
    company = Company(says={"step_1_topology_draft": [{"topology_notes": {}}] * 9})
    async with open_house(tmp_path / "book", company) as house:

        def held() -> tuple[str, str, bool, int]:
            (unit,) = house.foundry.units.all()
            assert unit.status is UnitStatus.STABILIZING
            assert house.foundry.units.find(unit.id) == unit
            return unit.id, unit.outcome, bool(unit.error), len(unit.runs)

        failed = await house.run("story_spark")
        assert held() == (failed.unit.id, "failed", True, 1)
        # Taken up again in a new run, and stopped from outside: no code of the loop sees its end.
        company.says["step_2_section_briefs"] = [{"section_briefs": {}}] * 9
        args = {"policy": "playbook", "unit": failed.unit.id}
        started = await house.studio.start("questfoundry/story_spark", args)
        waiting = await house.studio.engine.wait(started.id, settled=True)
        assert waiting.state is RunState.WAITING and held()[1:] == ("", False, 2)
        await house.studio.engine.signal(started.id, SignalKind.CANCEL)
        await house.studio.engine.wait(started.id)
        assert held()[1:] == ("cancelled", False, 2)
        await house.success("story_spark", unit=failed.unit.id)
        assert held() == (failed.unit.id, "success", False, 3)


@pytest.mark.req("QF-72")
async def test_a_role_without_its_adapter_fails_before_anybody_is_asked(tmp_path: Path) -> None:
    root = tmp_path / "book"
    prompts = Project.init(root, pack="questfoundry").prompts
    company = Company()
    async with open_house(root, company) as house:
        # A file that cannot be read as a template is as good as none.
        (prompts / "adapters").mkdir(parents=True)
        (prompts / "adapters" / "style_lead.md").write_text("---\nslots: {\n---\n", "utf-8")
        ran = await house.run("story_spark")
        assert ran.run.state is RunState.FAILED and company.calls == []
        assert "style_lead" in str(ran.run.error)
        assert house.foundry.units.all() == []


@pytest.mark.req("QF-31", "QF-53")
async def test_another_role_may_be_given_a_step(tmp_path: Path) -> None:
    company = Company()
    plan = ["step_1_topology_draft", "step_2_section_briefs"]
    company.decides["next"] = [{"step": each, "reason": "as usual"} for each in plan]
    company.decides["next"].append(
        {"step": "step_3_prose_pass", "role": "plotwright", "reason": "only a few words change"}
    )
    async with open_house(tmp_path / "book", company) as house:
        ran = await house.success("story_spark", policy="llm")
        deviations = [each for each in ran.events("decision") if each["deviates_from_playbook"]]
        assert [each["decision"]["role"] for each in deviations] == ["plotwright"]
        assert deviations[0]["decision"]["reason"] == "only a few words change"
        third = [role for key, role in company.calls if "/step_3_prose_pass/" in key]
        fourth = [role for key, role in company.calls if "/step_4_hook_generation/" in key]
        assert third == ["plotwright"] and "scene_smith" in fourth


@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.req("QF-26")
async def test_company_is_approved_or_denied(tmp_path: Path, approved: bool) -> None:
    asking = envelope(
        {"topology_notes": TOPOLOGY},
        collaboration={"roles": ["lore_weaver"], "reason": "may the sea rise?"},
    )
    company = Company(says={("step_1_topology_draft", "plotwright"): [asking]})
    company.decides["join"] = [{"approved": approved, "reason": "it is worth it"}]
    async with open_house(tmp_path / "book", company) as house:
        ran = await house.success("story_spark", policy="llm")
        first = [role for key, role in company.calls if "/step_1_topology_draft/" in key]
        assert ("lore_weaver" in first) is approved
        told = ran.events("collaboration")
        assert len(told) == 1


@pytest.mark.req("QF-116")
async def test_style_may_not_change_where_a_choice_leads(tmp_path: Path) -> None:
    company = Company()
    company.usual["drift_report"] = {"sampled": ["pier", "store", "dark", "cliff"]}
    other = changed(drafts(), "sections", 0, "choices", 0, "to", value="dark")
    company.usual["revised_prose"] = other
    async with open_house(tmp_path / "book", company) as house:
        await house.success("story_spark")
        ran = await house.run("style_tune_up")
        assert ran.result.status == "stalled"
        (diff, *_) = house.foundry.shelf.all("structure_diff", ran.unit.id)
        (row,) = house.foundry.shelf.body(diff.sha256)["differences"]
        assert row == {"path": "pier.pier.up.to", "before": "room", "after": "dark"}
        report = house.foundry.shelf.newest("gatecheck_report")
        assert report is not None
        assert house.foundry.shelf.body(report.sha256)["decision"] == "block"
        kinds = [each.kind for each in house.foundry.hooks.in_state("proposed")]
        assert "structure" in kinds


@pytest.mark.req("QF-47")
async def test_a_spark_may_not_touch_the_style(tmp_path: Path) -> None:
    said = envelope({"topology_notes": TOPOLOGY, "style_addendum": {"voice": "loud"}})
    company = Company(says={"step_1_topology_draft": [said] * 20})
    async with open_house(tmp_path / "book", company) as house:
        ran = await house.run("story_spark")
        assert ran.run.state is RunState.FAILED and "style_addendum" in str(ran.run.error)
        assert house.foundry.shelf.all("style_addendum") == []
