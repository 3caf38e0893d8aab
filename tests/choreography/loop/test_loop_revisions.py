"""Gates, staleness and requests: what has to be done again, and when a loop is stable."""

from collections.abc import Callable

import pytest
from loopkit import SPARK, Company, Kit, block, with_limits

from callboard.choreography.loop import LoopStatus
from callboard.core.vocabulary import RunState

pytestmark = pytest.mark.anyio
GATE = ("step_7_preview_gate", "gatekeeper")
TOPOLOGY = "step_1_topology_draft"


def by_step(made: Kit) -> list[int]:
    return [int(step.split("_")[1]) for step in made.company.steps_taken]


@pytest.mark.req("QF-40")
@pytest.mark.req("QF-42")
async def test_a_block_sends_the_work_back_and_what_rests_on_it_is_done_again(
    kit: Callable[..., Kit],
) -> None:
    made = kit(company=Company(says={GATE: [{"gatecheck_report": block()}]}))
    ran = await made.run(policy="playbook")
    assert ran.result.success
    assert by_step(made) == [1, 2, 3, 4, 4, 5, 6, 7, 1, 2, 3, 4, 4, 5, 6, 7]
    stored = ran.events("artifact.stored")
    reports = [each for each in stored if each["kind"] == "gatecheck_report"]
    assert len({each["sha256"] for each in reports}) == 2
    assert [each["decision"] for each in ran.events("gate")] == ["block", "pass"]
    started = ran.events("step.started")
    again = next(each for each in started[8:] if each["step"] == "step_2_section_briefs")
    assert {again["steps"][f"step_{n}"] for n in ("3_prose_pass", "5_style_check")} == {"stale"}


@pytest.mark.req("QF-40")
async def test_stale_optional_steps_may_be_dropped_with_a_reason(kit: Callable[..., Kit]) -> None:
    company = Company(says={GATE: [{"gatecheck_report": block()}]})
    late = [{"step": f"step_{n}", "reason": "as usual"} for n in range(1, 8)]
    dropped = [{"step": f"step_{n}", "reason": "the old one will not fit"} for n in (4, 5, 6)]
    again = [{"step": "step_1", "reason": "go back"}, {"step": "step_2", "reason": "next"}]
    company.decides["next"] = [
        *late,
        *again,
        {"step": "step_3", "reason": "next"},
        {"step": "step_7", "reason": "enough", "drop": dropped},
    ]
    made = kit(company=company)
    ran = await made.run()
    assert ran.run.state is RunState.DONE, ran.run.error
    assert by_step(made) == [1, 2, 3, 4, 4, 5, 6, 7, 1, 2, 3, 7]
    assert "hooks" not in ran.result.artifacts
    assert ran.result.steps["step_5_style_check"] == "skipped"
    # Without hooks there is nothing to hand on.
    assert ran.result.next_loop is None
    why = [e["why"] for e in ran.events("step.finished") if e.get("status") == "skipped"]
    assert why == ["the old one will not fit"] * 3
    assert ran.decisions("decide_step")[-2]["deviates_from_playbook"]


async def test_the_same_work_again_makes_nothing_stale(kit: Callable[..., Kit]) -> None:
    company = Company(usual={"topology_notes": lambda _n: {"body": "always the same"}})
    company.decides["next"] = [
        *({"step": f"step_{n}", "reason": "x"} for n in (1, 2, 1, 3)),
    ]
    made = kit(company=company)
    ran = await made.run()
    assert ran.result.success
    assert by_step(made)[:4] == [1, 2, 1, 3]
    assert by_step(made).count(2) == 1


@pytest.mark.req("QF-28")
@pytest.mark.req("QF-39")
async def test_code_says_first_whether_a_loop_is_stable_and_a_model_can_only_withhold_it(
    kit: Callable[..., Kit],
) -> None:
    company = Company()
    company.decides["stable"] = [{"goal_achieved": False, "missing": ["a second ending"]}]
    company.decides["next"] = [{"step": f"step_{n}", "reason": "x"} for n in range(1, 9)]
    company.decides["next"] += [{"step": "step_3", "reason": "the ending is missing"}]
    made = kit(company=company)
    ran = await made.run()
    asked = [key for key, _ in made.company.calls if key.endswith("/stable")]
    assert len(asked) == 2
    # Withheld after the eighth step; then what the new prose made stale is done again.
    assert by_step(made)[8:] == [3, 4, 4, 5, 6, 7]
    assert ran.result.success
    prompt = dict(made.company.prompts)["9/next"]
    assert "a second ending" in prompt


@pytest.mark.req("QF-43")
async def test_a_must_is_done_before_the_loop_is_stable_and_a_should_can_be_dismissed(
    kit: Callable[..., Kit],
) -> None:
    major = {"verdict": "revise", "findings": [{"severity": "major", "suggestion": "too long"}]}
    company = Company(says={("step_5_style_check", "style_lead"): [{"style_feedback": major}]})
    made = kit(company=company)
    ran = await made.run(policy="playbook")
    assert ran.result.success
    assert by_step(made).count(3) == 2 or by_step(made).count(1) == 2
    (asked,) = ran.events("revision")
    assert (asked["severity"], asked["reason"]) == ("must", "too long")
    prompts = [text for key, text in made.company.prompts if asked["target_step"] in key]
    assert "too long" in prompts[-1] and "too long" not in prompts[0]

    minor = {"verdict": "revise", "findings": [{"severity": "minor", "suggestion": "a comma"}]}
    company = Company(says={("step_5_style_check", "style_lead"): [{"style_feedback": minor}]})
    company.decides["next"] = [{"step": f"step_{n}", "reason": "x"} for n in range(1, 6)]
    company.decides["next"] += [
        {
            "step": "step_6",
            "reason": "x",
            "dismiss": [{"request": "R1", "reason": "a matter of taste"}],
        }
    ]
    second = kit(root=None) if False else Kit(made.root / "second", company=company)
    ran = await second.run()
    assert ran.result.success
    assert by_step(second).count(3) == 1
    assert ran.result.revisions == ()


@pytest.mark.req("QF-38")
async def test_a_role_may_ask_that_earlier_work_be_revised(kit: Callable[..., Kit]) -> None:
    wish = '{"artifacts": [{"type": "feasibility_notes", "content": {"verdict": "ok"}}], '
    wish += '"revisions": [{"target_step": "step_3_prose_pass", "reason": "he is dead by then", '
    wish += '"severity": "must"}]}'
    made = kit(company=Company(says={("step_6_feasibility_check", "lore_weaver"): [wish]}))
    ran = await made.run(policy="playbook")
    assert ran.result.success
    assert by_step(made) == [1, 2, 3, 4, 4, 5, 6, 3, 4, 4, 5, 6, 7]


@pytest.mark.req("QF-45")
async def test_three_blocks_stall_the_loop_where_nobody_can_be_asked(
    kit: Callable[..., Kit],
) -> None:
    blocks = [{"gatecheck_report": block(fix=f"try {n}")} for n in range(3)]
    made = kit(company=Company(says={GATE: blocks}))
    ran = await made.run(policy="playbook")
    assert ran.run.state is RunState.DONE
    assert ran.result.status is LoopStatus.STALLED
    assert ran.closed["status"] == "stalled"
    assert "blocked 3 times" in ran.result.error and "try 2" in ran.result.error
    assert ran.result.next_loop is None
    assert ran.result.revisions[0]["reason"] == "try 2"


@pytest.mark.parametrize(
    ("answer", "status", "state"),
    [
        ("retry", "success", RunState.DONE),
        ("accept what there is, deferred", "stalled", RunState.DONE),
        ("abort", "failed", RunState.FAILED),
    ],
)
@pytest.mark.req("QF-45")
async def test_the_human_is_asked_at_a_limit(
    kit: Callable[..., Kit], answer: str, status: str, state: RunState
) -> None:
    blocks = [{"gatecheck_report": block(fix=f"try {n}")} for n in range(3)]
    made = kit(company=Company(says={GATE: blocks}), loops=(SPARK,))
    ran = await made.run(policy="playbook", answers={"21/limit": answer})
    assert ran.run.state is state, ran.run.error
    assert ran.closed["status"] == status


async def test_a_showrunner_that_repeats_one_step_is_stopped(kit: Callable[..., Kit]) -> None:
    company = Company()
    company.decides["next"] = [{"step": "step_1", "reason": "once more"}] * 100
    made = kit(company=company)
    ran = await made.run()
    assert ran.result.status is LoopStatus.STALLED
    assert "not stable after 24 steps" in ran.result.error
    assert by_step(made) == [1] * 24


async def test_a_loop_has_limits_of_its_own(kit: Callable[..., Kit]) -> None:
    company = Company()
    company.decides["next"] = [{"step": "step_1", "reason": "once more"}] * 100
    made = kit(company=company, loops=(with_limits(SPARK, iterations=5),))
    ran = await made.run()
    assert by_step(made) == [1] * 5
    assert ran.result.status is LoopStatus.STALLED


@pytest.mark.req("QF-27")
async def test_the_showrunner_chooses_what_a_block_sends_back(kit: Callable[..., Kit]) -> None:
    company = Company(says={GATE: [{"gatecheck_report": block()}]})
    company.decides["block"] = [
        {"action": "revise", "target_step": "step_3", "instructions": "mend the last scene only"}
    ]
    company.decides["next"] = [{"step": f"step_{n}", "reason": "x"} for n in range(1, 8)]
    company.decides["next"] += [{"step": "step_3", "reason": "as decided"}]
    made = kit(company=company)
    ran = await made.run()
    (decided,) = ran.decisions("decide_block")
    assert decided["deviates_from_playbook"]
    assert by_step(made)[8] == 3
    prompt = [text for key, text in made.company.prompts if key.startswith("8/step_3")][-1]
    assert "mend the last scene only" in prompt
    assert ran.result.success


async def test_where_the_word_of_the_gate_is_all_that_is_wanted_a_block_completes_the_loop(
    kit: Callable[..., Kit],
) -> None:
    text = SPARK + "stability: decision_recorded\n"
    made = kit(company=Company(says={GATE: [{"gatecheck_report": block()}]}), loops=(text,))
    ran = await made.run(policy="playbook")
    assert ran.result.success
    assert by_step(made).count(7) == 1
