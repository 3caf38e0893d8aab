"""A loop that is lost, cancelled or failed goes on where it was."""

from collections.abc import Callable

import pytest
from loopkit import Company, Kit

from callboard.core.vocabulary import RunState, SignalKind
from callboard.models import Failure, Line, Script
from callboard.store.connection import StoreError
from callboard.testing import Blackout, Moment
from callboard.testing.opening import open_scripted
from callboard.testing.witness import finish

pytestmark = pytest.mark.anyio
STYLE = ("step_5_style_check", "style_lead")
ARGS = {"policy": "playbook", "is_interactive": False}


@pytest.mark.req("QF-49")
async def test_a_loop_lost_in_its_fifth_step_does_not_repeat_the_first_four(
    kit: Callable[..., Kit],
) -> None:
    made = kit()
    run_id = ""
    with pytest.raises(StoreError):
        # On record: the opening, four steps for each of the first three, five for the fourth.
        async with made.open(faults=Blackout(Moment("step.before_record", 21))) as studio:
            run_id = (await studio.start("loops/story_spark", ARGS)).id
            await studio.engine.wait(run_id)
    before = list(made.company.calls)
    assert made.company.steps_taken[-1] == "step_5_style_check"
    made.company.calls.clear()
    async with made.open() as studio:
        run = await finish(studio, run_id, {})
        ran = made.ran(studio, run)
    assert ran.result.success
    assert made.company.steps_taken[0] == "step_5_style_check"
    assert not {key for key, _ in before[:-1]} & {key for key, _ in made.company.calls}
    # What was told before is not told again.
    assert len(ran.events("opened")) == 1 and len(ran.events("step.started")) == 8
    # The session of a role is there again.
    prompt = dict(made.company.prompts)["7/step_7_preview_gate/gatekeeper/ask"]
    assert "gatecheck_report" in prompt


@pytest.mark.req("QF-49")
async def test_a_cancelled_loop_leaves_its_unit_open_and_is_taken_up_again(
    kit: Callable[..., Kit],
) -> None:
    made = kit(company=Company(says={STYLE: [Line("never said", hang=True, hold="style")]}))
    script = Script(made.company.speak)
    async with open_scripted(made.project, script, made.root / "pack") as studio:
        run_id = (await studio.start("loops/story_spark", ARGS)).id
        await script.reached("style")
        script.release("style")
        await studio.engine.signal(run_id, SignalKind.CANCEL)
        run = await studio.engine.wait(run_id)
        assert run.state is RunState.CANCELLED
        assert made.ran(studio, run).closed is None
        made.company.calls.clear()
        again = await studio.retry(run_id)
        ran = made.ran(studio, await finish(studio, again.id, {}))
    assert ran.result.success and ran.result.unit == "unit-story_spark"
    assert made.company.steps_taken == [
        "step_5_style_check",
        "step_6_feasibility_check",
        "step_7_preview_gate",
    ]


async def test_a_retry_begins_with_the_first_attempt_of_the_step_that_failed_it(
    kit: Callable[..., Kit],
) -> None:
    gate = ("step_7_preview_gate", "gatekeeper")
    made = kit(company=Company(says={gate: [Line(fail=Failure(500))] * 3}))
    async with made.open() as studio:
        run_id = (await studio.start("loops/story_spark", ARGS)).id
        run = await finish(studio, run_id, {})
        assert run.state is RunState.FAILED
        assert run.error is not None and run.error.code == "loop_failed"
        assert run.error.context["step"] == "7/step_7_preview_gate"
        made.company.calls.clear()
        again = await studio.retry(run_id)
        ran = made.ran(studio, await finish(studio, again.id, {}))
    assert ran.result.success
    assert made.company.steps_taken == ["step_7_preview_gate"]
    assert ran.result.validation["failed_attempts"] == 0


@pytest.mark.req("QF-150")
async def test_a_missing_input_fails_before_anybody_is_asked_and_names_who_makes_it(
    kit: Callable[..., Kit],
) -> None:
    made = kit()
    ran = await made.run("hook_harvest")
    assert ran.run.state is RunState.FAILED
    assert made.company.calls == []
    assert ran.closed["error"].startswith("hook_harvest needs hooks, and there is none")
    assert ran.closed["error"].endswith("story_spark makes it")
    await made.run(policy="playbook")
    async with made.open() as studio:
        again = await studio.retry(ran.run.id)
        second = made.ran(studio, await finish(studio, again.id, {}))
    assert second.result.success


async def test_a_loop_that_changed_on_disk_does_not_change_a_run_that_is_under_way(
    kit: Callable[..., Kit],
) -> None:
    made = kit()
    run_id = ""
    with pytest.raises(StoreError):
        async with made.open(faults=Blackout(Moment("step.before_record", 21))) as studio:
            run_id = (await studio.start("loops/story_spark", ARGS)).id
            await studio.engine.wait(run_id)
    made.registry = type(made.registry)(made.registry.loops()[1:])
    async with made.open() as studio:
        assert (await finish(studio, run_id, {})).state is RunState.DONE
