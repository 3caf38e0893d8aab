"""A loop that meets no trouble: every step once, in the order of the playbook."""

from collections.abc import Callable

import pytest
from loopkit import Company, Kit

from callboard.core.vocabulary import RunState

pytestmark = pytest.mark.anyio


@pytest.mark.req("QF-56", "QF-77", "QF-143")
@pytest.mark.req("QF-06")
@pytest.mark.req("QF-33")
@pytest.mark.req("QF-55")
async def test_by_the_playbook_a_straight_pass_takes_eight_calls(kit: Callable[..., Kit]) -> None:
    made = kit()
    ran = await made.run(policy="playbook")
    assert ran.run.state is RunState.DONE, ran.run.error
    result = ran.result
    assert result.success
    assert len(made.company.calls) == 8
    assert made.company.asked(of="showrunner") == []
    assert set(result.artifacts) == {
        "topology_notes",
        "section_briefs",
        "scene_drafts",
        "hooks",
        "style_feedback",
        "feasibility_notes",
        "gatecheck_report",
    }
    assert result.next_loop == "hook_harvest"
    assert result.next_inputs == ("hooks",)
    assert result.validation == {"all_valid": True, "total": 7, "failed_attempts": 0}
    assert ran.closed["status"] == "success"
    names = [name for name, _ in ran.told]
    assert names[0] == "opened" and names[-2:] == ["checkpoint", "closed"]
    woken = sorted(each["role"] for each in ran.events("role.woken"))
    assert sorted(each["role"] for each in ran.events("role.dormant")) == woken
    (kept,) = ran.events("checkpoint")
    assert [each[0] for each in kept["artifacts"]] == list(result.artifacts)
    assert kept["next_loop"] == "hook_harvest"


@pytest.mark.req("QF-24")
async def test_by_a_model_the_same_pass_takes_seventeen_calls_on_the_same_path(
    kit: Callable[..., Kit],
) -> None:
    made = kit()
    ran = await made.run(policy="llm")
    assert ran.run.state is RunState.DONE, ran.run.error
    assert len(made.company.calls) == 17
    assert ran.result.stats["showrunner_calls"] == 9
    assert ran.result.stats["role_calls"] == 8
    assert ran.result.stats["deviations"] == ran.result.stats["fallbacks"] == 0


async def test_everything_is_told_once_and_in_order(kit: Callable[..., Kit]) -> None:
    made = kit()
    ran = await made.run()
    names = {name for name, _ in ran.told}
    assert names == {
        "opened",
        "decision",
        "step.started",
        "step.finished",
        "role.woken",
        "role.dormant",
        "artifact.stored",
        "validation",
        "gate",
        "checkpoint",
        "closed",
    }
    started = [each["step"] for each in ran.events("step.started")]
    assert started == [each["step"] for each in ran.events("step.finished")]
    assert len(started) == 8


async def test_what_was_handed_on_counts_no_more_when_the_step_says_otherwise(
    kit: Callable[..., Kit],
) -> None:
    company = Company()
    company.decides["stable"] = [{"goal_achieved": False, "missing": ["other prose"]}]
    company.decides["next"] = [{"step": f"step_{n}", "reason": "x"} for n in (*range(1, 9), 3)]
    stale = [{"step": f"step_{n}", "reason": "old"} for n in (4, 5, 6)]
    company.decides["next"] += [{"step": "step_7", "reason": "x", "drop": stale}]
    made = kit(company=company)
    ran = await made.run()
    assert ran.result.success
    assert [each["step"][:6] for each in ran.events("step.started")].count("step_8") == 2
    assert ran.result.next_loop is None
