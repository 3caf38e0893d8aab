"""Whatever the choreography and the dispatcher: crash, replay, fork, retry, the human's answer."""

from collections.abc import Callable

import pytest
from playhouse import DISPATCHERS, PLAYS

from callboard.core.errors import Conflict
from callboard.core.vocabulary import RunState, StepState
from callboard.store.connection import StoreError
from callboard.testing import Blackout, Line, Moment
from callboard.testing.conformance import Conformance, crash_and_recover
from callboard.testing.witness import WitnessedProject as House
from callboard.testing.witness import plain

pytestmark = pytest.mark.anyio


class TestExamples(Conformance):
    """The suite that comes with Callboard, for the five choreographies that come with it."""

    scenarios = PLAYS
    dispatchers = DISPATCHERS
    least_steps = 4


async def test_rubbish_instead_of_a_decision_is_asked_again_and_changes_nothing(
    make_house: Callable[[str], House],
) -> None:
    expected, _ = await make_house("loop").perform()
    house = make_house("loop")
    key = "2/next"
    house.special[key] = Line("<<< no JSON at all >>>")
    async with house.open() as studio:
        run = await house.finish(studio, await house.start(studio))
        assert run.state is RunState.DONE
        # It was asked more than once before it was given up, and once more with the fault named.
        assert house.executions(run.id)[key] > 1
        assert house.executions(run.id)[f"{key}/again"] == 1
        assert run.result["artifacts"] == expected.result["artifacts"]
        del house.special[key]
        second = await house.finish(studio, (await studio.engine.fork(run.id, from_step=key)).id)
    assert plain(second.result) == plain(expected.result)
    assert "1/step_1_outline/planner/ask" not in house.executions(second.id)


async def test_the_answer_of_the_human_may_come_after_a_restart(
    make_house: Callable[[str], House],
) -> None:
    expected, _ = await make_house("turn that asks").perform()
    house = make_house("turn that asks")
    async with house.open() as studio:
        run_id = await house.start(studio)
        assert (await studio.engine.wait(run_id, settled=True)).state is RunState.WAITING
        (asked,) = house.questions(studio, run_id)
    count = len(house.executed)
    async with house.open() as studio:
        assert (await studio.engine.wait(run_id, settled=True)).state is RunState.WAITING
        assert [each.id for each in house.questions(studio, run_id)] == [asked.id]
        assert len(house.executed) == count
    # By another door, while nobody executes the run.
    async with house.open(recover=False) as studio:
        await studio.engine.answer(asked.id, house.scenario.answers["more"])
        run = await studio.engine.wait(run_id)
        with pytest.raises(Conflict):
            await studio.engine.answer(asked.id, "something else")
    assert run.state is RunState.DONE
    assert plain(run.result) == plain(expected.result)
    assert set(house.executions(run_id).values()) == {1}


@pytest.mark.parametrize("point", ["question.before_ask", "question.after_ask"])
async def test_a_question_is_asked_once_even_if_the_process_dies_asking(
    make_house: Callable[[str], House], point: str
) -> None:
    expected, _ = await make_house("turn that asks").perform()
    house = make_house("turn that asks")
    run, run_id = await crash_and_recover(house, Moment(point))
    assert plain(run.result) == plain(expected.result)
    async with house.open() as studio:
        asked = studio.database.read(
            lambda c: c.execute(
                "SELECT key FROM questions WHERE run_id = :id", {"id": run_id}
            ).fetchall()
        )
    assert [row["key"] for row in asked] == ["more"]


async def test_a_node_that_failed_fails_the_same_way_on_every_replay(
    make_house: Callable[[str], House],
) -> None:
    house = make_house("dag")
    with pytest.raises(StoreError):
        dark = Blackout(Moment("run.before_finish"))
        async with house.open(dark) as studio:
            dark.keep = studio.database.flush
            run_id = await house.start(studio)
            await house.finish(studio, run_id)
    house.executed.clear()
    async with house.open() as studio:
        run = await house.finish(studio, run_id)
        failed = house.journal(studio, run_id)["read_missing/read"]
    assert house.executed == []
    assert failed.state is StepState.FAILED
    assert failed.error is not None
    assert run.result["read_missing"]["state"] == "failed"
    assert failed.error.message in run.result["read_missing"]["reason"]
    assert {name: node["state"] for name, node in run.result.items()} == {
        "read": "done",
        "read_missing": "failed",
        "measure": "done",
        "outline": "done",
        "compare": "skipped",
        "report": "skipped",
    }
