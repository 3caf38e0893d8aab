"""An effect that must happen once: never torn from its record, never done again blindly."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from world import World

from callboard.core.vocabulary import Effect, RunState, SignalKind, StepState
from callboard.engine.scope import Happened, NotHappened
from callboard.store.connection import StoreError
from callboard.store.faults import NoFaults
from callboard.store.journal.questions import list_questions
from callboard.store.journal.steps import load_journal
from callboard.testing import Blackout, Moment

pytestmark = pytest.mark.anyio

KINDS = ["once", "once without probe"]


async def lose_after_the_effect(world: World, run_id: str) -> None:
    """Let the effect happen, and the process die before that is on record."""
    with pytest.raises(StoreError):
        async with world.open(Blackout(Moment("step.before_record"))) as (engine, _):
            await engine.recover()
            await engine.wait(run_id)
    assert world.executed == ["0"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_retry_of_a_run_marked_as_interrupted_does_not_repeat_its_effect(
    tmp_path: Path, kind: str
) -> None:
    world = World(tmp_path, [kind])
    await lose_after_the_effect(world, run_id := await world.create())
    async with world.open(NoFaults()) as (engine, database):
        (marked,) = await engine.recover("manual")
        assert engine.load(marked.id).state is RunState.FAILED
        retried = await engine.retry(run_id)
        run = await world.finish(engine, database, retried.id)
        asked = database.read(lambda c: list_questions(c, only_open=False))
    assert run.state is RunState.DONE, run.error
    assert world.executed == ["0"]
    assert [each.key for each in asked] == (["0/unknown/1"] if kind != "once" else [])


@pytest.mark.parametrize("kind", KINDS)
async def test_a_retry_of_a_run_cancelled_after_its_process_died_does_not_repeat_its_effect(
    tmp_path: Path, kind: str
) -> None:
    world = World(tmp_path, [kind])
    await lose_after_the_effect(world, run_id := await world.create())
    async with world.open(NoFaults()) as (engine, database):
        signal = await engine.signal(run_id, SignalKind.CANCEL)
        assert signal.acknowledged_state is RunState.CANCELLED
        run = await world.finish(engine, database, (await engine.retry(run_id)).id)
    assert run.state is RunState.DONE, run.error
    assert world.executed == ["0"]


async def test_an_answer_about_one_attempt_is_not_taken_for_the_next(tmp_path: Path) -> None:
    world = World(tmp_path, ["once without probe"])
    run_id = await world.create()
    # First the process dies before the effect, then, tried again, after it.
    with pytest.raises(StoreError):
        async with world.open(Blackout(Moment("step.after_intent"))) as (engine, _):
            await engine.recover()
            await engine.wait(run_id)
    assert world.executed == []
    with pytest.raises(StoreError):
        async with world.open(Blackout(Moment("step.before_record", 2))) as (engine, database):
            await engine.recover()
            await world.finish(engine, database, run_id)
    assert world.executed == ["0"]
    async with world.open(NoFaults()) as (engine, database):
        await engine.recover()
        run = await world.finish(engine, database, run_id)
        asked = database.read(lambda c: list_questions(c, only_open=False))
    assert run.state is RunState.DONE
    assert [each.value for each in asked] == ["did not happen", "happened"]
    assert world.executed == ["0"]


async def test_however_often_it_is_cancelled_an_effect_under_way_is_put_on_record(
    tmp_path: Path,
) -> None:
    world = World(tmp_path, [])
    began, door = asyncio.Event(), asyncio.Event()

    async def act(_scope: Any) -> str:
        began.set()
        await door.wait()
        world.executed.append("write")
        return "written"

    async def body(run: Any) -> Any:
        return await run.step("write", act, effect=Effect.ONCE)

    world.body = body  # type: ignore[method-assign]
    run_id = await world.create()
    async with world.open(NoFaults()) as (engine, database):
        await engine.recover()
        await began.wait()
        cancelling = [
            asyncio.ensure_future(engine.signal(run_id, SignalKind.CANCEL)) for _ in range(3)
        ]
        while len(engine._dispatcher.live(run_id).cancelling) < 3:
            await asyncio.sleep(0)
        door.set()
        states = {signal.acknowledged_state for signal in await asyncio.gather(*cancelling)}
        journal = database.read(lambda c: load_journal(c, engine.load(run_id)))
    assert states == {RunState.CANCELLED}
    assert journal["write"].state is StepState.DONE
    assert world.executed == ["write"]


async def test_an_effect_that_failed_in_doubt_is_looked_into_before_a_retry_repeats_it(
    tmp_path: Path,
) -> None:
    world = World(tmp_path, [])
    sent: list[str] = []

    async def send(scope: Any) -> str:
        sent.append("letter")
        scope.in_doubt = True
        raise TimeoutError("no answer came back")

    async def look(_before: Any) -> Any:
        return Happened("sent") if sent else NotHappened()

    async def body(run: Any) -> Any:
        return await run.step("send", send, effect=Effect.ONCE, probe=look)

    world.body = body  # type: ignore[method-assign]
    run_id = await world.create()
    async with world.open(NoFaults()) as (engine, database):
        await engine.recover()
        run = await engine.wait(run_id)
        assert run.state is RunState.FAILED
        journal = database.read(lambda c: load_journal(c, run))
        assert journal["send"].state is StepState.UNKNOWN
        second = await engine.wait((await engine.retry(run_id)).id)
    assert (second.state, second.result) == (RunState.DONE, "sent")
    assert sent == ["letter"]


async def test_a_run_that_failed_in_doubt_fails_the_same_way_when_it_is_replayed(
    tmp_path: Path,
) -> None:
    world = World(tmp_path, [])
    sent: list[str] = []

    async def send(scope: Any) -> str:
        sent.append("letter")
        scope.in_doubt = True
        raise TimeoutError("no answer came back")

    async def body(run: Any) -> Any:
        return await run.step("send", send, effect=Effect.ONCE)

    world.body = body  # type: ignore[method-assign]
    run_id = await world.create()
    with pytest.raises(StoreError):
        async with world.open(Blackout(Moment("run.before_finish"))) as (engine, _):
            await engine.recover()
            await engine.wait(run_id)
    async with world.open(NoFaults()) as (engine, _):
        await engine.recover()
        run = await engine.wait(run_id)
    assert run.state is RunState.FAILED
    assert run.error is not None
    assert "no answer came back" in run.error.message
    assert sent == ["letter"]
