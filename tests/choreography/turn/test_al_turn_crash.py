"""Bad days of a turn: the process dies anywhere, and nothing finished is done again."""

import asyncio
import contextlib

import pytest
from tiny_domain import TinyDomain
from turn_parlour import Parlours

from callboard.core.errors import CallboardError
from callboard.core.vocabulary import RunState, SignalKind
from callboard.operations.runtime import send_signal
from callboard.store.journal.runs import list_runs
from callboard.testing import Blackout, Line, Moment

pytestmark = pytest.mark.anyio
PLAN = {
    "goal": "Write both",
    "steps": [
        {
            "description": "Add a contact",
            "step_type": "write",
            "subdomain": "communications",
            "write": {"op": "create", "table": "contacts", "records": [{"name": "Bo"}]},
        },
        {
            "description": "Add a task",
            "step_type": "write",
            "subdomain": "calendar",
            "group": 1,
            "write": {"op": "create", "table": "tasks", "records": [{"description": "Call Bo"}]},
        },
    ],
}
LISTEN = Line(json={}, prompt_type="understand", times=None)
THINK = Line(json=PLAN, prompt_type="think", times=None)


async def die(tiny: TinyDomain, parlour_of: Parlours, nth: int) -> None:
    """Have a turn begin and the power cut at its n-th commit."""
    cut = Blackout(Moment("store.before_commit", nth))
    with contextlib.suppress(CallboardError, TimeoutError):
        async with parlour_of(tiny, LISTEN, THINK, faults=cut) as parlour:
            async with asyncio.timeout(3):
                await parlour.say("note Bo and the call", mode="plan")


@pytest.mark.req("AL-41", "AL-144")
@pytest.mark.parametrize("nth", range(3, 22, 2))
async def test_a_turn_that_died_goes_on_and_writes_once(
    tiny: TinyDomain, parlour_of: Parlours, nth: int
):
    await die(tiny, parlour_of, nth)
    async with parlour_of(tiny, LISTEN, THINK) as parlour:
        runs = parlour.studio.database.read(list_runs)
        if not runs:
            assert tiny.writes == 0
            return
        ended = await parlour.studio.engine.wait(runs[0].id)
        assert ended.state is RunState.DONE, ended.error
        assert (tiny.names("contacts"), tiny.names("tasks")) == (["Bo"], ["Call Bo"])
        assert tiny.writes == 2
        (turn,) = parlour.talk.turns(runs[0].session_id)
        assert turn["status"] == "done"
        assert "Bo" in turn["assistant"]


@pytest.mark.req("AL-41")
async def test_an_interrupted_turn_is_told_of_by_the_next(tiny: TinyDomain, parlour_of: Parlours):
    manual = {"engine": {"resume_on_start": "manual"}}
    # The second write has happened, and the journal has not heard of it.
    tiny.on_write = lambda number: setattr(cut, "is_dark", number == 2)
    cut = Blackout(Moment("store.before_commit", 10_000))
    with contextlib.suppress(CallboardError, TimeoutError):
        async with parlour_of(tiny, LISTEN, THINK, faults=cut) as parlour:
            async with asyncio.timeout(3):
                await parlour.say("note Bo and the call", mode="plan")
    tiny.on_write = None
    async with parlour_of(tiny, flags=manual) as parlour:
        said = await parlour.say("show contacts", mode="quick")
        assert "was interrupted" in said.message
        assert "Done before that: Bo (contacts)" in said.message
        statuses = [each["status"] for each in parlour.talk.turns(parlour.session)]
        assert statuses == ["interrupted", "done"]
        assert "interrupted" not in (await parlour.say("show tasks")).message


@pytest.mark.req("AL-41")
async def test_a_turn_that_was_stopped_does_not_block_the_next(
    tiny: TinyDomain, parlour_of: Parlours
):
    async with parlour_of(tiny, LISTEN, THINK) as parlour:
        studio, signals = parlour.studio, []

        def pause(number: int) -> None:
            run = studio.database.read(list_runs)[0]
            if number == 1:
                # As if the signal had been heard at once: a run that only computes is soon over.
                studio.engine._dispatcher.live(run.id)._open.clear()
                told = send_signal(studio, run.id, SignalKind.PAUSE, "the lid was closed")
                signals.append(asyncio.ensure_future(told))

        tiny.on_write = pause
        with contextlib.suppress(CallboardError, TimeoutError):
            async with asyncio.timeout(3):
                await parlour.say("note Bo and the call", mode="plan")
        await asyncio.gather(*signals)
        tiny.on_write = None
        assert studio.database.read(list_runs)[0].state is RunState.PAUSED
        said = await parlour.say("show contacts", mode="quick")
        assert "was interrupted" in said.message
        assert tiny.names("contacts") == ["Bo"]
        statuses = [each["status"] for each in parlour.talk.turns(parlour.session)]
        assert statuses == ["interrupted", "done"]
