"""Whatever the choreography and the dispatcher: pause, resume and cancel, at every step."""

import asyncio
import functools
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from playhouse import finish_when_resumed

from callboard.core.errors import Conflict
from callboard.core.vocabulary import RunState, SignalKind
from callboard.testing import ActAt, Line, Moment
from callboard.testing.conformance import check_it_stays_cancelled
from callboard.testing.witness import WitnessedProject as House
from callboard.testing.witness import agent_keys, plain, tool_keys
from sizes import size

pytestmark = pytest.mark.anyio

NewHouse = Callable[[], House]


class Boundary:
    """Sends a signal the moment the n-th step is on record; later steps wait for it to arrive."""

    def __init__(self, house: House, nth: int, kind: SignalKind) -> None:
        self.faults = ActAt(Moment("step.after_record", nth), self._send)
        self._house = house
        self._kind = kind
        self._target: tuple[Any, str] | None = None
        self._sent: asyncio.Task[Any] | None = None
        self._passed = asyncio.Event()
        # What had begun, and perhaps ended, when the signal was sent.
        self.began: set[str] = set()

        self._is_due = False

    def aim(self, studio: Any, run_id: str) -> None:
        self._target = (studio, run_id)
        if self._is_due:
            self._send()

    def _send(self) -> None:
        if self._target is None:
            # The step was on record before the start of the run was told.
            self._is_due = True
            self._house.doors.clear()
            return
        studio, run_id = self._target
        self.began = set(self._house.executions(run_id))
        self._house.doors.clear()
        self._sent = asyncio.ensure_future(studio.engine.signal(run_id, self._kind))
        self._passed.set()

    async def acknowledged(self) -> Any:
        """Return the signal, or None if the run was over before it could be sent."""
        await self._passed.wait()
        assert self._sent is not None
        assert self._target is not None
        studio, run_id = self._target
        await until(lambda: self._sent.done() or has_received(studio, run_id))
        self._house.release()
        try:
            return await self._sent
        except Conflict:
            return None


def has_received(studio: Any, run_id: str) -> bool:
    live = studio.engine._dispatcher.live(run_id)
    return live is not None and (live.is_held or bool(live.cancelling))


async def turns(count: int = 50) -> None:
    """Give everything that could still happen the chance to happen."""
    for _ in range(count):
        await asyncio.sleep(0)


async def until(reached: Callable[[], bool]) -> None:
    while not reached():
        await asyncio.sleep(0)


def boundaries(journal: Sequence[Any]) -> list[int]:
    """Return every step; of a long play every third, and all with `make chaos`."""
    count = len(journal)
    return [*range(1, count, size(3, 1) if count > 8 else 1), count]


@pytest.mark.chaos
async def test_it_pauses_at_every_boundary_and_goes_on(new_house: NewHouse) -> None:
    expected, journal = await new_house().perform()
    everything = {*agent_keys(journal), *tool_keys(journal)}
    for nth in boundaries(journal):
        house = new_house()
        boundary = Boundary(house, nth, SignalKind.PAUSE)
        async with house.open(boundary.faults) as studio:
            boundary.aim(studio, run_id := await house.start(studio))
            answering = asyncio.ensure_future(finish_when_resumed(house, studio, run_id))
            signal = await boundary.acknowledged()
            if signal is None or signal.acknowledged_state is RunState.DONE:
                # The signal came too late: there was nothing left to begin.
                assert boundary.began == everything
            else:
                assert signal.acknowledged_state is RunState.PAUSED
                before = (house.finished(studio, run_id), list(house.executed))
                await turns()
                assert (house.finished(studio, run_id), house.executed) == before
                assert len(before[0]) >= nth
                resumed = await studio.engine.signal(run_id, SignalKind.RESUME)
                assert resumed.acknowledged_state in (RunState.RUNNING, RunState.WAITING)
            run = await answering
        assert run.state is RunState.DONE, (nth, run.error)
        assert plain(run.result) == plain(expected.result)
        assert set(house.executions(run_id).values()) == {1}


async def test_a_pause_lets_the_step_in_flight_finish_and_no_other_begin(
    new_house: NewHouse,
) -> None:
    expected, journal = await new_house().perform()
    for key in agent_keys(journal):
        house = new_house()
        house.special[key] = Line(hold=key)
        async with house.open() as studio:
            run_id = await house.start(studio)
            answering = asyncio.ensure_future(finish_when_resumed(house, studio, run_id))
            await house.script.reached(key)
            pausing = asyncio.ensure_future(studio.engine.signal(run_id, SignalKind.PAUSE))
            await until(functools.partial(has_received, studio, run_id))
            began = {each for _, each in house.executed}
            assert not pausing.done()
            house.script.release(key)
            assert (await pausing).acknowledged_state is RunState.PAUSED
            assert key in house.finished(studio, run_id)
            # What a parallel branch had begun may finish; nothing new begins.
            assert {each for _, each in house.executed} <= began
            await studio.engine.signal(run_id, SignalKind.RESUME)
            run = await answering
        assert run.state is RunState.DONE
        assert plain(run.result) == plain(expected.result)
        assert set(house.executions(run_id).values()) == {1}


async def test_a_pause_outlives_the_process(new_house: NewHouse) -> None:
    expected, _ = await new_house().perform()
    house = new_house()
    boundary = Boundary(house, 1, SignalKind.PAUSE)
    async with house.open(boundary.faults) as studio:
        boundary.aim(studio, run_id := await house.start(studio))
        assert (await boundary.acknowledged()).acknowledged_state is RunState.PAUSED
    count = len(house.executed)
    async with house.open() as studio:
        await turns()
        assert studio.engine.load(run_id).state is RunState.PAUSED
        assert len(house.executed) == count
        await studio.engine.signal(run_id, SignalKind.RESUME)
        run = await house.finish(studio, run_id)
    assert plain(run.result) == plain(expected.result)
    assert set(house.executions(run_id).values()) == {1}


@pytest.mark.chaos
async def test_it_is_cancelled_at_every_boundary_for_good(new_house: NewHouse) -> None:
    expected, journal = await new_house().perform()
    for nth in boundaries(journal):
        house = new_house()
        boundary = Boundary(house, nth, SignalKind.CANCEL)
        async with house.open(boundary.faults) as studio:
            boundary.aim(studio, run_id := await house.start(studio))
            answering = asyncio.ensure_future(house.finish(studio, run_id))
            signal = await boundary.acknowledged()
            run = await answering
            if signal is None or signal.acknowledged_state is RunState.DONE:
                assert boundary.began == {*agent_keys(journal), *tool_keys(journal)}
                continue
            assert signal.acknowledged_state is RunState.CANCELLED
            await check_it_stays_cancelled(house, studio, run_id)
            done = house.done(studio, run_id)
            retried = await house.finish(studio, (await studio.engine.retry(run_id)).id)
        assert run.state is RunState.CANCELLED
        assert plain(retried.result) == plain(expected.result)
        assert not done & set(house.executions(retried.id))
