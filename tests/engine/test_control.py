"""Pause, resume, cancel, retry, fork, sleep and recovery, with their acknowledgements."""

import asyncio
import contextlib
from typing import Any

import pytest

from callboard.core.errors import Conflict, InvalidInput, NotFound
from callboard.core.vocabulary import Effect, Question, RunState, SignalKind
from callboard.store.journal.events import read_events
from callboard.store.journal.questions import list_questions

pytestmark = pytest.mark.anyio


class Conferences:
    """Steps that wait for the test: each one reports that it began and ends when let go."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.ended: list[str] = []
        self.doors: dict[str, asyncio.Event] = {}
        self._moved = asyncio.Event()

    def step(self, name: str, held: bool = False) -> Any:
        async def act(_scope: Any) -> str:
            self.began.append(name)
            self._moved.set()
            if held:
                await self.doors.setdefault(name, asyncio.Event()).wait()
            self.ended.append(name)
            return name

        return act

    def open(self, name: str) -> None:
        self.doors.setdefault(name, asyncio.Event()).set()

    async def until_began(self, name: str) -> None:
        while name not in self.began:
            self._moved.clear()
            await self._moved.wait()


async def until_held(theatre: Any, run_id: str) -> None:
    while not theatre.engine._dispatcher.live(run_id).is_held:
        await asyncio.sleep(0)


async def test_pause_takes_effect_at_the_next_step_and_is_acknowledged(open_theatre: Any) -> None:
    hall = Conferences()

    async def body(run: Any) -> Any:
        await run.step("one", hall.step("one", held=True))
        await run.step("two", hall.step("two"))
        return "end"

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        await hall.until_began("one")
        pausing = asyncio.create_task(theatre.engine.signal(run_id, SignalKind.PAUSE))
        await until_held(theatre, run_id)
        assert not pausing.done()
        hall.open("one")
        signal = await pausing
        assert signal.acknowledged_state is RunState.PAUSED
        assert theatre.engine.load(run_id).state is RunState.PAUSED
        assert hall.ended == ["one"]
        assert "two" not in hall.began
        resumed = await theatre.engine.signal(run_id, SignalKind.RESUME)
        assert resumed.acknowledged_state is RunState.RUNNING
        run = await theatre.engine.wait(run_id)
    assert run.state is RunState.DONE
    assert hall.began == ["one", "two"]


async def test_a_paused_run_stays_paused_over_a_restart_until_resumed(open_theatre: Any) -> None:
    hall = Conferences()

    async def body(run: Any) -> Any:
        await run.step("one", hall.step("one", held=True))
        await run.step("two", hall.step("two"))

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        await hall.until_began("one")
        pausing = asyncio.create_task(theatre.engine.signal(run_id, SignalKind.PAUSE))
        await until_held(theatre, run_id)
        hall.open("one")
        await pausing
    async with open_theatre({"body": body}) as theatre:
        assert await theatre.engine.recover() == []
        assert theatre.engine.load(run_id).state is RunState.PAUSED
        signal = await theatre.engine.signal(run_id, SignalKind.RESUME)
        assert signal.acknowledged_state is RunState.RUNNING
        assert (await theatre.engine.wait(run_id)).state is RunState.DONE
    assert hall.began == ["one", "two"]


async def test_cancel_stops_a_step_in_flight_and_is_terminal(open_theatre: Any) -> None:
    hall = Conferences()

    async def body(run: Any) -> Any:
        await run.step("one", hall.step("one", held=True))

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        await hall.until_began("one")
        signal = await theatre.engine.signal(run_id, SignalKind.CANCEL, "enough")
        assert signal.acknowledged_state is RunState.CANCELLED
        run = await theatre.engine.wait(run_id)
        assert run.state is RunState.CANCELLED
        assert hall.ended == []
        assert theatre.journal(run_id) == {}
        with pytest.raises(Conflict, match="cancelled"):
            await theatre.engine.signal(run_id, SignalKind.PAUSE)


async def test_cancel_lets_a_once_effect_finish_and_records_it(open_theatre: Any) -> None:
    hall = Conferences()

    async def body(run: Any) -> Any:
        await run.step("write", hall.step("write", held=True), effect=Effect.ONCE)
        await run.step("after", hall.step("after"))

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        await hall.until_began("write")
        cancelling = asyncio.create_task(theatre.engine.signal(run_id, SignalKind.CANCEL))
        while not theatre.engine._dispatcher.live(run_id).cancelling:
            await asyncio.sleep(0)
        hall.open("write")
        signal = await cancelling
        assert signal.acknowledged_state is RunState.CANCELLED
        journal = theatre.journal(run_id)
    assert journal["write"].output == "write"
    assert hall.began == ["write"]


async def test_a_choreography_cannot_swallow_its_cancellation(open_theatre: Any) -> None:
    hall = Conferences()

    async def body(run: Any) -> Any:
        for number in range(3):
            with contextlib.suppress(Exception):  # what careless code does
                await run.step(f"try/{number}", hall.step(f"{number}", held=True))

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        await hall.until_began("0")
        await theatre.engine.signal(run_id, SignalKind.CANCEL)
        assert theatre.engine.load(run_id).state is RunState.CANCELLED
    assert hall.began == ["0"]


async def test_parallel_branches_share_a_run_and_fail_together(open_theatre: Any) -> None:
    hall = Conferences()

    async def broken(_scope: Any) -> Any:
        await hall.until_began("slow")
        raise ValueError("no")

    async def body(run: Any) -> Any:
        ok = await run.parallel(
            {n: lambda b, n=n: b.step("work", hall.step(f"ok-{n}")) for n in ("x", "y")}
        )
        mixed = await run.collect(
            {
                "good": lambda b: b.step("work", hall.step("good")),
                "bad": lambda b: b.step("work", broken),
                "slow": lambda b: b.step("work", hall.step("slow")),
            }
        )
        kinds = {n: o.failed.error.code if o.failed else o.value for n, o in mixed.items()}
        await run.emit("seen", {"ok": ok, "kinds": kinds})
        await run.parallel(
            {
                "again": lambda b: b.step("work", broken),
                "held": lambda b: b.step("work", hall.step("held", held=True)),
            }
        )

    async with open_theatre({"body": body}) as theatre:
        run = await theatre.run("body")
        events = theatre.database.read(lambda c: read_events(c, run_id=run.id))
        journal = theatre.journal(run.id)
    assert run.state is RunState.FAILED
    assert run.error.context["step"] == "again/work"
    seen = next(e.body for e in events if e.type == "emitted")
    assert seen.data == {
        "ok": {"x": "ok-x", "y": "ok-y"},
        "kinds": {"good": "good", "bad": "unexpected", "slow": "slow"},
    }
    assert "held/work" not in journal
    assert "held" not in hall.ended


async def test_parallel_respects_its_limit(open_theatre: Any) -> None:
    at_once, most = [0], [0]

    async def busy(_scope: Any) -> Any:
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        await asyncio.sleep(0)
        at_once[0] -= 1
        return 1

    async def body(run: Any) -> Any:
        return await run.parallel({str(n): lambda b: b.step("w", busy) for n in range(9)}, limit=2)

    async with open_theatre({"body": body}) as theatre:
        run = await theatre.run("body")
    assert len(run.result) == 9
    assert most[0] == 2


async def test_retry_keeps_what_was_finished(open_theatre: Any) -> None:
    hall = Conferences()
    broken = [True]

    async def flaky(_scope: Any) -> Any:
        hall.began.append("flaky")
        if broken[0]:
            raise TimeoutError("too slow")
        return "fine"

    async def body(run: Any) -> Any:
        await run.step("one", hall.step("one"))
        return await run.step("flaky", flaky)

    async with open_theatre({"body": body}) as theatre:
        failed = await theatre.run("body")
        assert failed.state is RunState.FAILED
        broken[0] = False
        retried = await theatre.engine.retry(failed.id)
        run = await theatre.engine.wait(retried.id)
        assert (run.state, run.result, run.parent_id) == (RunState.DONE, "fine", failed.id)
        assert theatre.engine.load(failed.id).state is RunState.FAILED
        with pytest.raises(Conflict, match="only a failed or cancelled"):
            await theatre.engine.retry(run.id)
    assert hall.began == ["one", "flaky", "flaky"]


async def test_fork_shares_the_past_and_edits_a_slot(open_theatre: Any) -> None:
    hall = Conferences()

    async def body(run: Any) -> Any:
        brief = await run.step("brief", hall.step("brief"), slot="brief")
        draft = await run.step("draft", hall.step(f"draft of {brief}"), inputs=brief, slot="draft")
        return await run.step("edit", hall.step(f"edit of {draft}"), inputs=draft, slot="edit")

    async with open_theatre({"body": body}) as theatre:
        old = await theatre.run("body")
        again = await theatre.engine.fork(old.id, from_step="edit")
        assert (await theatre.engine.wait(again.id)).result == old.result
        edited = await theatre.engine.fork(old.id, edits={"brief": "a storm"})
        run = await theatre.engine.wait(edited.id)
        assert run.result == "edit of draft of a storm"
        twice = await theatre.engine.fork(run.id, edits={"draft": "mine"})
        assert (await theatre.engine.wait(twice.id)).result == "edit of mine"
        assert theatre.journal(twice.id)["brief"].output == "a storm"
        with pytest.raises(NotFound, match="nope"):
            await theatre.engine.fork(old.id, from_step="nope")
        with pytest.raises(NotFound) as missing:
            await theatre.engine.fork(old.id, edits={"nope": 1})
        assert "brief, draft, edit" in str(missing.value.fix)
        with pytest.raises(InvalidInput):
            await theatre.engine.fork(old.id)
    assert hall.began.count("brief") == 1
    assert hall.began.count("draft of brief") == 1


async def test_sleep_goes_on_over_a_restart(open_theatre: Any) -> None:
    async def body(run: Any) -> Any:
        await run.sleep("short", 0.01)
        await run.sleep("long", 3600)
        return "awake"

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        while "long" not in theatre.journal(run_id):
            await theatre.engine._changes.next()
        run = await theatre.engine.wait(run_id, settled=True)
        assert run.state is RunState.WAITING
        wake_at = theatre.journal(run_id)["long"].detail["wake_at"]
        past = '{"wake_at": 1}'
        await theatre.database.write(
            lambda c: (
                c.execute("UPDATE steps SET detail = :d WHERE key = 'long'", {"d": past}).rowcount
            )
        )
        assert wake_at > 1
    async with open_theatre({"body": body}) as theatre:
        await theatre.engine.recover()
        assert (await theatre.engine.wait(run_id)).result == "awake"


async def test_manual_recovery_marks_instead_of_resuming(open_theatre: Any) -> None:
    hall = Conferences()

    async def body(run: Any) -> Any:
        await run.step("one", hall.step("one"))
        await run.step("two", hall.step("two", held=True))
        return "end"

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        await hall.until_began("two")
    async with open_theatre({"body": body}) as theatre:
        (marked,) = await theatre.engine.recover("manual")
        assert marked.id == run_id
        run = theatre.engine.load(run_id)
        assert (run.state, run.error.code) == (RunState.FAILED, "interrupted")
        hall.open("two")
        retried = await theatre.engine.retry(run_id)
        assert (await theatre.engine.wait(retried.id)).result == "end"
    assert hall.began == ["one", "two", "two"]


async def test_two_processes_never_execute_one_run(open_theatre: Any) -> None:
    hall = Conferences()

    async def body(run: Any) -> Any:
        await run.step("one", hall.step("one", held=True))
        return await run.step("two", hall.step("two"))

    async with open_theatre({"body": body}) as first, open_theatre({"body": body}) as second:
        run_id = await first.start("body")
        await hall.until_began("one")
        assert await second.engine.recover() == []
        with pytest.raises(Conflict, match="another process"):
            await second.engine.resume(run_id)
        pausing = asyncio.create_task(second.engine.signal(run_id, SignalKind.PAUSE))
        await until_held(first, run_id)
        hall.open("one")
        signal = await pausing
        assert signal.acknowledged_state is RunState.PAUSED
        await second.engine.signal(run_id, SignalKind.RESUME)
        assert (await second.engine.wait(run_id)).state is RunState.DONE
    assert hall.began == ["one", "two"]


async def test_an_owner_that_lost_its_run_cannot_write_into_it(open_theatre: Any) -> None:
    hall = Conferences()

    async def body(run: Any) -> Any:
        await run.step("one", hall.step("one", held=True))
        await run.step("two", hall.step("two"))

    async with open_theatre({"body": body}) as first:
        run_id = await first.start("body")
        await hall.until_began("one")
        live = first.engine._dispatcher.live(run_id)
        await first.database.write(
            lambda c: (
                c.execute("UPDATE runs SET owner = NULL WHERE id = :i", {"i": run_id}).rowcount
            )
        )
        hall.open("one")
        await asyncio.wait({live.task})
        assert first.journal(run_id) == {}
        assert first.engine.load(run_id).state is RunState.RUNNING
    assert hall.began == ["one"]


async def test_an_answer_from_another_process_reaches_the_run(open_theatre: Any) -> None:
    async def body(run: Any) -> Any:
        return await run.ask_human("go", Question("Go?", choices=("yes", "no")))

    async with open_theatre({"body": body}) as first, open_theatre({"body": body}) as second:
        run_id = await first.start("body")
        await first.engine.wait(run_id, settled=True)
        (asked,) = second.database.read(list_questions)
        with pytest.raises(InvalidInput, match="maybe"):
            await second.engine.answer(asked.id, "maybe")
        await second.engine.answer(asked.id, "yes", answered_by="ada")
        assert (await first.engine.wait(run_id)).result == "yes"
        with pytest.raises(Conflict):
            await second.engine.answer(asked.id, "no")


async def test_events_tell_the_story_in_order_and_can_be_followed(open_theatre: Any) -> None:
    hall = Conferences()

    async def body(run: Any) -> Any:
        await run.step("one", hall.step("one"), slot="first")
        await run.emit("halfway", {"n": 1})
        return "end"

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        seen = []
        async for event in theatre.engine.events(run_id=run_id):
            seen.append(event)
            if event.type == "run.changed" and event.body.state == "done":
                break
    assert [e.type for e in seen] == [
        "run.started",
        "run.changed",
        "step.done",
        "emitted",
        "run.changed",
    ]
    assert [e.seq for e in seen] == sorted(e.seq for e in seen)
    assert seen[2].body.slot == "first"
