"""Whatever the choreography and the dispatcher: crash, replay, fork, retry, the human's answer."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from playhouse import SEA, House, agent_keys, plain, tool_keys

from callboard.core.errors import Conflict
from callboard.core.vocabulary import RunState, SignalKind, StepState
from callboard.store.connection import StoreError
from callboard.testing import Blackout, Failure, Line, Moment, Passages
from callboard.tools import verify

pytestmark = pytest.mark.anyio

NewHouse = Callable[[], House]


async def crash_and_recover(house: House, moment: Moment) -> tuple[Any, str]:
    """Start the play, lose the process at a moment, open the project again and let it finish."""
    faults = Blackout(moment)
    run_id = ""
    with pytest.raises(StoreError, match="power was cut"):
        async with house.open(faults) as studio:
            run_id = await house.start(studio)
            await house.finish(studio, run_id)
            pytest.fail(f"{moment} was never reached")
    before = len(house.executed)
    async with house.open(recover=False) as studio:
        finished = house.finished(studio, run_id)
        await studio.engine.recover()
        run = await house.finish(studio, run_id)
        assert sorted(house.receipts(studio, run_id)) == tool_keys(house.journal(studio, run_id))
        await studio.mirrors.flush()
        assert verify(studio.database, studio.project.trail).flaws == ()
    again = {key for _, key in house.executed[before:]}
    assert not finished & again, f"finished before {moment}, executed again after it"
    return run, run_id


async def count_passages(house: House) -> tuple[Any, Any, Passages]:
    passages = Passages()
    async with house.open(passages) as studio:
        run = await house.finish(studio, await house.start(studio))
        return run, house.journal(studio, run.id), passages


@pytest.mark.parametrize("point", ["step.before_record", "step.after_record"])
async def test_a_crash_at_every_step_boundary_changes_nothing(
    new_house: NewHouse, point: str
) -> None:
    expected, journal, passages = await count_passages(new_house())
    assert passages.counts[point] == len(journal)
    for nth in range(1, len(journal) + 1):
        house = new_house()
        run, run_id = await crash_and_recover(house, Moment(point, nth))
        assert run.state is RunState.DONE
        assert plain(run.result) == plain(expected.result)
        finished = len(journal)
        # Only what was in flight at the crash is executed a second time.
        assert len(house.executions(run_id)) <= finished
        assert max(house.executions(run_id).values()) <= 2


async def test_replaying_a_finished_journal_asks_no_model_and_runs_no_tool(
    new_house: NewHouse,
) -> None:
    expected, journal = await new_house().perform()
    house = new_house()
    with pytest.raises(StoreError):
        async with house.open(Blackout(Moment("run.before_finish"))) as studio:
            run_id = await house.start(studio)
            await house.finish(studio, run_id)
    assert house.executions(run_id) == dict.fromkeys(agent_keys(journal) + tool_keys(journal), 1)
    house.executed.clear()
    async with house.open() as studio:
        run = await house.finish(studio, run_id)
        assert house.journal(studio, run_id).keys() == journal.keys()
        assert sorted(house.receipts(studio, run_id)) == tool_keys(journal)
    assert house.executed == []
    assert run.state is RunState.DONE
    assert plain(run.result) == plain(expected.result)


async def test_a_fork_from_every_step_gives_the_same_and_shares_what_came_before(
    new_house: NewHouse,
) -> None:
    house = new_house()
    async with house.open() as studio:
        first = await house.finish(studio, await house.start(studio))
        journal = house.journal(studio, first.id)
        for key, step in journal.items():
            fork = await studio.engine.fork(first.id, from_step=key)
            run = await house.finish(studio, fork.id)
            assert run.state is RunState.DONE, (key, run.error)
            assert plain(run.result) == plain(first.result)
            earlier = {k for k, s in journal.items() if s.seq < step.seq and s.state == "done"}
            assert not earlier & set(house.executions(run.id)), key
            assert set(house.receipts(studio, run.id)).isdisjoint(earlier)
        assert studio.engine.load(first.id) == first


async def test_a_fork_with_an_edited_slot_shows_it_to_what_follows(new_house: NewHouse) -> None:
    house = new_house()
    async with house.open() as studio:
        first = await house.finish(studio, await house.start(studio))
        for slot, (value, trace) in house.play.edits.items():
            fork = await studio.engine.fork(first.id, edits={slot: value})
            run = await house.finish(studio, fork.id)
            assert run.state is RunState.DONE, (slot, run.error)
            prompts = [text for run_id, _, text in house.prompts if run_id == run.id]
            shown = (*prompts, *house.executions(run.id), str(run.result))
            assert any(trace in text for text in shown), slot
            assert slot not in house.executions(run.id)
            old = [text for run_id, _, text in house.prompts if run_id == first.id]
            assert not any(trace in text for text in (*old, str(first.result)))


FAILURES = {
    "http 500": (Line(fail=Failure(500)), "provider_error", "external_degrading", None),
    "http 429": (Line(fail=Failure(429)), "rate_limited", "external_rate_limit", None),
    "dropped": (Line(drop_after=9), "provider_error", "transient", 9),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_a_failed_call_fails_its_step_and_a_retry_executes_only_what_is_missing(
    new_house: NewHouse, failure: str
) -> None:
    line, code, tier, partial = FAILURES[failure]
    expected, journal = await new_house().perform()
    for key in agent_keys(journal):
        house = new_house()
        house.special[key] = line
        async with house.open() as studio:
            run = await house.finish(studio, await house.start(studio))
            error = house.journal(studio, run.id)[key].error
            assert error is not None
            assert (error.code, error.to_json()["tier"]) == (code, tier)
            text = error.context.get("partial")
            said = house.play.lines.get(key, SEA)
            assert (len(text) if text else None) == (partial and min(partial, len(said)))
            done = house.done(studio, run.id)
            del house.special[key]
            if key in house.play.survives:
                assert run.state is RunState.DONE
                again = await studio.engine.fork(run.id, from_step=key)
            else:
                assert run.state is RunState.FAILED
                assert run.error is not None
                assert run.error.context["step"] == key
                again = await studio.engine.retry(run.id)
            second = await house.finish(studio, again.id)
        assert second.state is RunState.DONE
        assert plain(second.result) == plain(expected.result)
        executed = set(house.executions(second.id))
        assert key in executed
        if key not in house.play.survives:
            assert not executed & done


async def test_a_call_that_hangs_is_cancelled_and_retried(new_house: NewHouse) -> None:
    expected, journal = await new_house().perform()
    for key in agent_keys(journal):
        house = new_house()
        house.special[key] = Line(hang=True)
        async with house.open() as studio:
            run_id = await house.start(studio)
            ending = asyncio.ensure_future(house.finish(studio, run_id))
            while key not in house.executions(run_id):
                await asyncio.sleep(0)
            signal = await studio.engine.signal(run_id, SignalKind.CANCEL)
            assert signal.acknowledged_state is RunState.CANCELLED
            assert (await ending).state is RunState.CANCELLED
            done = house.done(studio, run_id)
            del house.special[key]
            second = await house.finish(studio, (await studio.engine.retry(run_id)).id)
        assert plain(second.result) == plain(expected.result)
        assert not done & set(house.executions(second.id))


async def test_rubbish_instead_of_a_choice_fails_the_step_with_the_rubbish_kept(
    make_house: Callable[[str], House],
) -> None:
    expected, _ = await make_house("loop").perform()
    house = make_house("loop")
    key = "round/2/next"
    house.special[key] = Line("<<< no JSON at all >>>")
    async with house.open() as studio:
        run = await house.finish(studio, await house.start(studio))
        assert run.state is RunState.FAILED
        error = house.journal(studio, run.id)[key].error
        assert error is not None
        assert error.context["partial"] == "<<< no JSON at all >>>"
        # It was asked more than once before it was given up.
        assert house.executions(run.id)[key] > 1
        del house.special[key]
        second = await house.finish(studio, (await studio.engine.retry(run.id)).id)
    assert plain(second.result) == plain(expected.result)
    assert "round/1/expand" not in house.executions(second.id)


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
        await studio.engine.answer(asked.id, house.play.answers["more"])
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
        async with house.open(Blackout(Moment("run.before_finish"))) as studio:
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
