"""Following: everybody gets just their events, in order, each once, however they come and go."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from callboard.core.run_events import StepDone
from callboard.store.journal.events import append_event, read_events

pytestmark = pytest.mark.anyio

STEPS = 20


async def body(run: Any) -> None:
    for number in range(STEPS):
        await run.emit(f"{run.args['called']}/{number}")


async def heard(
    theatre: Any, run_id: str | None, after: int = 0, slowly: bool = False
) -> list[str]:
    """Return what a follower hears until its run, or the last of all, is over."""
    names: list[str] = []
    async with aclosing(theatre.engine.events(run_id=run_id)) as events:
        async for event in events:
            if slowly:
                await asyncio.sleep(0.002)
            if event.body.type == "emitted":
                names.append(event.body.name)
            if event.body.type == "run.changed" and event.body.state == "done" and run_id:
                return names
            if run_id is None and len(names) == 3 * STEPS:
                return names
    return names


def told(name: str) -> list[str]:
    return [f"{name}/{number}" for number in range(STEPS)]


async def test_everybody_hears_their_run_from_where_they_asked(open_theatre: Any) -> None:
    async with open_theatre({"body": body}) as theatre:
        ids = {name: await theatre.start("body", called=name) for name in ("a", "b", "c")}
        async with asyncio.timeout(30):
            early = await asyncio.gather(
                *(heard(theatre, run_id) for run_id in ids.values()), heard(theatre, None)
            )
            late = await asyncio.gather(*(heard(theatre, run_id) for run_id in ids.values()))
    assert early[:3] == late == [told(name) for name in ids]
    assert sorted(early[3]) == sorted(each for name in ids for each in told(name))
    assert [each for each in early[3] if each.startswith("b/")] == told("b")


async def test_one_who_is_too_slow_loses_nothing(
    open_theatre: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("callboard.engine.feed._MOST_BEHIND", 3)
    async with open_theatre({"body": body}) as theatre, asyncio.timeout(30):
        waiting = asyncio.create_task(heard(theatre, None, slowly=True))
        for name in ("a", "b", "c"):
            await theatre.run("body", called=name)
        assert await waiting == [*told("a"), *told("b"), *told("c")]


async def test_what_another_process_does_is_heard_too(open_theatre: Any) -> None:
    async with open_theatre({"body": body}) as here, open_theatre({"body": body}) as elsewhere:
        run = await elsewhere.engine.create("body", {"called": "x"}, "sess_test", dispatch=False)
        following = asyncio.create_task(heard(here, run.id))
        await asyncio.sleep(0)
        await elsewhere.engine.resume(run.id)
        async with asyncio.timeout(30):
            assert await following == told("x")


async def test_a_finished_step_is_stored_once_and_told_in_full(open_theatre: Any) -> None:
    output = {"text": "a long story " * 40, "more": [1, 2]}

    async def body(run: Any) -> None:
        async def act(scope: Any) -> Any:
            scope.detail["model"] = "script"
            return output

        await run.step("act", act, slot="story")

    async with open_theatre({"body": body}) as theatre:
        ended = await theatre.run("body")
        rows = theatre.database.read(
            lambda c: c.execute("SELECT data FROM events WHERE type = 'step.done'").fetchall()
        )
        events = theatre.database.read(lambda c: read_events(c, run_id=ended.id))
        # As an older Callboard stored it, with everything in the event.
        await theatre.database.write(
            lambda c: append_event(
                c, StepDone("work", 7, "as it was", "old"), at=1, run_id=ended.id, step_key="act"
            )
        )
        (older,) = theatre.database.read(
            lambda c: read_events(c, run_id=ended.id, after=events[-1].seq)
        )
    assert "story" not in rows[0]["data"]
    (told,) = [each.body for each in events if each.type == "step.done"]
    assert told.preview.startswith('{"text":"a long story')
    assert (told.kind, told.slot, told.detail) == ("work", "story", {"model": "script"})
    assert older.body == StepDone("work", 7, "as it was", "old")
