"""What a file may ask of its steps: a time, conditions, code before and after, enough roles."""

from collections.abc import Callable
from typing import Any

import pytest
from loopkit import HARVEST, SPARK, Company, Kit, block, hand_on, with_limits

from callboard.choreography.loop import CodeOutcome, LoopStatus, Misfit
from callboard.core.clock import SystemClock
from callboard.core.vocabulary import RunState
from callboard.models import Line, ModelRequest
from callboard.testing.witness import finish

pytestmark = pytest.mark.anyio
MINUTE_MS = 60_000
GATE = ("step_7_preview_gate", "gatekeeper")
PROSE = "roles: scene_smith, requires: [topology_notes, section_briefs], produces: [scene_drafts]"


class MovedClock(SystemClock):
    """The machine's clock, some minutes on."""

    minutes = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.minutes * MINUTE_MS


class Slow(Company):
    """A company in which one step takes an hour."""

    def __init__(self, clock: MovedClock, step: str) -> None:
        super().__init__()
        self._clock, self._step = clock, step

    def speak(self, request: ModelRequest) -> Line | str:
        said = super().speak(request)
        if f"/{self._step}/" in (request.step_key or ""):
            self._clock.minutes += 60
        return said


async def run_slowly(
    made: Kit, clock: MovedClock, policy: str, answers: dict[str, Any] | None = None
) -> Any:
    async with made.open(clock=clock) as studio:
        args = {"policy": policy, "is_interactive": answers is not None}
        started = await studio.start("loops/story_spark", args)
        return made.ran(studio, await finish(studio, started.id, answers or {}))


@pytest.mark.req("QF-45")
@pytest.mark.parametrize("policy", ["playbook", "llm"])
async def test_a_loop_whose_time_is_over_takes_no_further_step(
    kit: Callable[..., Kit], policy: str
) -> None:
    clock = MovedClock()
    company = Slow(clock, "step_2_section_briefs")
    made = kit(company=company, loops=(with_limits(SPARK, timebox_minutes=30), HARVEST))
    ran = await run_slowly(made, clock, policy)
    assert ran.result.status is LoopStatus.STALLED
    assert "the time for this loop is over" in ran.result.error
    assert company.steps_taken[-1] == "step_2_section_briefs"
    assert set(ran.result.artifacts) == {"topology_notes", "section_briefs"}


@pytest.mark.req("QF-45")
async def test_the_human_may_give_a_loop_its_time_once_more(kit: Callable[..., Kit]) -> None:
    clock = MovedClock()
    company = Slow(clock, "step_2_section_briefs")
    made = kit(company=company, loops=(with_limits(SPARK, timebox_minutes=30), HARVEST))
    ran = await run_slowly(made, clock, "playbook", {"3/limit": "retry"})
    assert ran.result.success


@pytest.mark.req("QF-48")
@pytest.mark.parametrize("holds", [True, False])
async def test_a_step_with_a_condition_is_required_if_it_holds_and_else_skipped(
    kit: Callable[..., Kit], holds: bool
) -> None:
    asked: list[str] = []

    def wordy(view: Any) -> bool:
        asked.append(view.content("scene_drafts")["body"])
        return holds

    text = SPARK.replace(
        "produces: [style_feedback], required: false", "produces: [style_feedback], required: wordy"
    )
    made = kit(loops=(text, HARVEST), code={"hand_on": hand_on, "wordy": wordy})
    ran = await made.run(policy="playbook")
    assert ran.result.success
    assert ran.result.steps["step_5_style_check"] == ("done" if holds else "skipped")
    assert bool(made.company.asked(of="style_lead")) is holds
    # Looked at once for one input, and only when there is something to look at.
    assert len(asked) == 1
    ended = [e for e in ran.events("step.finished") if e["step"] == "step_5_style_check"]
    assert [each["status"] for each in ended] == ["done" if holds else "skipped"]


async def test_a_condition_is_looked_at_again_when_its_input_is_new(
    kit: Callable[..., Kit],
) -> None:
    company = Company(says={GATE: [{"gatecheck_report": block("step_3_prose_pass")}]})
    said: list[bool] = []

    def wordy(_view: Any) -> bool:
        said.append(bool(said))
        return said[-1]

    text = SPARK.replace(
        "produces: [style_feedback], required: false", "produces: [style_feedback], required: wordy"
    )
    made = kit(company=company, loops=(text, HARVEST), code={"hand_on": hand_on, "wordy": wordy})
    ran = await made.run(policy="playbook")
    assert said == [False, True]
    assert ran.result.success and ran.result.steps["step_5_style_check"] == "done"


async def test_code_before_shows_what_it_found_and_code_after_has_the_last_word(
    kit: Callable[..., Kit],
) -> None:
    seen: list[Any] = []

    def count(view: Any) -> Any:
        return {"sections": 41}

    def true_count(view: Any) -> CodeOutcome:
        seen.append((view.found, view.made["scene_drafts"]["body"]))
        return CodeOutcome({"scene_drafts": {"body": f"{view.found['sections']} sections"}})

    text = SPARK.replace(PROSE, f"{PROSE}, before: count, after: true_count")
    code = {"hand_on": hand_on, "count": count, "true_count": true_count}
    made = kit(loops=(text, HARVEST), code=code)
    async with made.open() as studio:
        args = {"policy": "playbook", "is_interactive": False}
        started = await studio.start("loops/story_spark", args)
        ran = made.ran(studio, await finish(studio, started.id, {}))
        stored = ran.result.artifacts["scene_drafts"]
        assert made.bring(studio).workspace.content(stored) == {"body": "41 sections"}
    prompt = next(text for key, text in made.company.prompts if "step_3_prose_pass" in key)
    assert '"sections"' in prompt and "41" in prompt
    ((found, said),) = seen
    assert found == {"sections": 41} and said.startswith("scene_drafts ")


@pytest.mark.req("QF-36")
async def test_what_code_after_refuses_is_not_stored_and_tried_again(
    kit: Callable[..., Kit],
) -> None:
    tries: list[int] = []

    def picky(view: Any) -> CodeOutcome:
        tries.append(len(tries))
        return (
            CodeOutcome(errors=(Misfit("body", "too plain"),)) if len(tries) < 3 else CodeOutcome()
        )

    text = SPARK.replace(PROSE, f"{PROSE}, after: picky")
    made = kit(loops=(text, HARVEST), code={"hand_on": hand_on, "picky": picky})
    ran = await made.run(policy="playbook")
    ended = [e for e in ran.events("step.finished") if e["step"] == "step_3_prose_pass"]
    assert [each["status"] for each in ended] == ["failed", "failed", "done"]
    assert ended[0]["errors"] == ["body: too plain"]
    kinds = [each["kind"] for each in ran.events("artifact.stored")]
    assert kinds.count("scene_drafts") == 1
    assert [e["valid"] for e in ran.events("validation") if e["step"] == "step_3_prose_pass"] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(("least", "status"), [(1, "done"), (2, "skipped")])
@pytest.mark.req("QF-65")
async def test_a_step_is_skipped_with_a_tag_unless_enough_of_its_roles_are_awake(
    kit: Callable[..., Kit], least: int, status: str
) -> None:
    text = HARVEST.replace(
        "roles: researcher, requires: [hook_intake], produces: [research_memo]",
        "roles: [lore_weaver, researcher], requires: [hook_intake], produces: [research_memo],"
        f" least_roles: {least}",
    )
    made = kit(loops=(SPARK, text))
    await made.run(policy="playbook")
    made.company.calls.clear()
    ran = await made.run("hook_harvest", policy="playbook")
    assert ran.result.success and ran.result.steps["step_2_research"] == status
    asked = [who for key, who in made.company.calls if "step_2_research" in key]
    assert asked == (["lore_weaver"] if least == 1 else [])
    assert ran.result.deferrals == (() if least == 1 else ("deferred:research",))
    both = await made.run("hook_harvest", policy="playbook", awake="researcher")
    assert both.result.steps["step_2_research"] == "done" and both.result.deferrals == ()


def test_more_roles_than_a_step_has_are_refused_when_it_is_read(kit: Callable[..., Kit]) -> None:
    from callboard.choreography.loop import LoopInvalid, read_loop

    text = HARVEST.replace("roles: researcher,", "roles: researcher, least_roles: 2,")
    with pytest.raises(LoopInvalid, match="asks for 2 of 1 roles"):
        read_loop(text, "harvest.yaml")


@pytest.mark.req("QF-27")
@pytest.mark.parametrize(
    ("action", "status", "state"),
    [
        ("defer", LoopStatus.STALLED, RunState.DONE),
        ("escalate", LoopStatus.STALLED, RunState.DONE),
        ("abort", LoopStatus.FAILED, RunState.FAILED),
    ],
)
async def test_a_block_may_be_deferred_escalated_or_end_the_loop(
    kit: Callable[..., Kit], action: str, status: LoopStatus, state: RunState
) -> None:
    company = Company(says={GATE: [{"gatecheck_report": block()}]})
    company.decides["block"] = [{"action": action}]
    made = kit(company=company)
    ran = await made.run()
    assert ran.run.state is state
    assert ran.result.status is status and "a choice leads nowhere" in ran.result.error
    assert company.steps_taken.count("step_1_topology_draft") == 1
    # The report of the block is kept.
    assert "gatecheck_report" in ran.result.artifacts
    assert ran.decisions("decide_block")[0]["deviates_from_playbook"]


@pytest.mark.req("QF-49")
async def test_an_aborted_loop_is_retried_from_the_decision_that_ended_it(
    kit: Callable[..., Kit],
) -> None:
    company = Company(says={GATE: [{"gatecheck_report": block()}]})
    company.decides["block"] = [{"action": "abort"}]
    made = kit(company=company)
    async with made.open() as studio:
        started = await studio.start("loops/story_spark", {"is_interactive": False})
        assert (await finish(studio, started.id, {})).state is RunState.FAILED
        company.calls.clear()
        again = await studio.retry(started.id)
        ran = made.ran(studio, await finish(studio, again.id, {}))
    assert ran.result.success
    assert company.steps_taken[0] == "step_1_topology_draft"
