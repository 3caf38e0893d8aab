"""A clock that is set back: no other order, no other result, no longer nap."""

import asyncio
import textwrap
from pathlib import Path

import pytest
from bad_days import SEA, new_project, opening

from callboard.core.clock import SystemClock
from callboard.core.vocabulary import RunState, SignalKind
from callboard.store.connection import StoreError
from callboard.store.journal.events import read_events
from callboard.store.journal.runs import list_runs
from callboard.studio.studio import Studio
from callboard.testing import Blackout, Line, Moment, Script
from callboard.tools import verify

pytestmark = [pytest.mark.anyio, pytest.mark.chaos]


class WildClock(SystemClock):
    """A wall clock that its owner sets back by an hour every time it is looked at a few times."""

    def __init__(self) -> None:
        self.looks = 0

    def now_ms(self) -> int:
        self.looks += 1
        return super().now_ms() - 3_600_000 * (self.looks // 3)


async def test_a_clock_that_goes_back_changes_no_order_and_no_result(root: Path) -> None:
    clock = WildClock()
    run_ids: list[str] = []
    async with Studio.open(root, opening(clock=clock)) as studio:
        for _ in range(3):
            run = await studio.start("recipe", {})
            run_ids.append(run.id)
            finished = await studio.engine.wait(run.id)
            assert finished.state is RunState.DONE
            assert finished.updated_at < run.created_at
        listed = [run.id for run in studio.database.read(list_runs)]
        events = studio.database.read(read_events)
        assert verify(studio.database, studio.project.trail).flaws == ()
    assert run_ids == sorted(set(run_ids))
    assert listed == run_ids[::-1]
    states = [event.body.state for event in events if event.type == "run.changed"]
    assert states == ["running", "done"] * 3
    assert [event.seq for event in events] == sorted(event.seq for event in events)
    assert clock.looks > 20


async def test_signals_keep_their_order_when_the_clock_goes_back(root: Path) -> None:
    script = Script(Line(SEA, hold="door"), Line(SEA, times=None))
    async with Studio.open(root, opening(script, clock=WildClock())) as studio:
        run = await studio.start("recipe", {})
        await script.reached("door")
        pausing = asyncio.ensure_future(studio.engine.signal(run.id, SignalKind.PAUSE))
        await asyncio.sleep(0)
        resuming = asyncio.ensure_future(studio.engine.signal(run.id, SignalKind.RESUME))
        script.release("door")
        await asyncio.gather(pausing, resuming)
        assert (await studio.engine.wait(run.id)).state is RunState.DONE


class SetBackClock(SystemClock):
    """A wall clock that stands an hour behind."""

    def now_ms(self) -> int:
        return super().now_ms() - 3_600_000


async def test_a_nap_is_not_longer_than_meant_when_the_clock_is_set_back(tmp_path: Path) -> None:
    from callboard.studio.packs import load_pack

    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "pack.yaml").write_text("name: naps\nchoreographies: {nap: nap.py:nap}\n", "utf-8")
    (pack / "nap.py").write_text(
        textwrap.dedent(
            '''
            from callboard.choreography import Stage, choreography


            @choreography
            async def nap(stage: Stage):
                """Sleep a moment."""
                await stage.sleep("nap", 0.2)
                return "awake"
            '''
        ),
        "utf-8",
    )
    root = new_project(tmp_path / "project")
    packs = (load_pack(pack),)
    with pytest.raises(StoreError):
        async with Studio.open(
            root, opening(packs=packs, faults=Blackout(Moment("step.after_intent")))
        ) as studio:
            run = await studio.start("nap")
            await studio.engine.wait(run.id)
    clock = SetBackClock()
    started = clock.monotonic()
    async with Studio.open(root, opening(packs=packs, clock=clock)) as studio:
        (run,) = studio.database.read(list_runs)
        finished = await studio.engine.wait(run.id)
    assert finished.result == "awake"
    assert clock.monotonic() - started < 30
