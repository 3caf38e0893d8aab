"""Sessions: a lifecycle that allows only what is listed, and runs that follow it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callboard.core.errors import Conflict, NotFound
from callboard.core.vocabulary import RunState, SessionState, SignalKind
from callboard.core.vocabulary.run import SESSION_TRANSITIONS
from callboard.models import Line, Script
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import SCRIPTED, open_scripted

pytestmark = pytest.mark.anyio

MOVES = {
    "activate": SessionState.ACTIVE,
    "suspend": SessionState.SUSPENDED,
    "complete": SessionState.COMPLETED,
    "fail": SessionState.FAILED,
}


@pytest.fixture
async def studio(tmp_path: Path) -> AsyncIterator[Studio]:
    script = Script(Line("a word about the lighthouse " * 8, times=None))
    opening = Opening(providers={"script": script}, flags=SCRIPTED)
    Project.init(tmp_path)
    (tmp_path / "one.md").write_text("# One\n\nThe lighthouse stands.\n")
    async with Studio.open(tmp_path, opening) as opened:
        yield opened


@pytest.mark.req("RT-61", "RT-63", "RT-65")
async def test_a_session_is_created_active_with_its_times_kept(studio: Studio) -> None:
    session = await studio.sessions.create("draft two", {"goal": "finish"})
    assert session.state is SessionState.ACTIVE
    assert session.id.startswith("sess_")
    assert session.activated_at is not None
    assert session.created_at <= session.activated_at <= session.last_active_at
    suspended = await studio.sessions.suspend(session.id)
    assert suspended.suspended_at is not None
    resumed = await studio.sessions.resume(session.id)
    done = await studio.sessions.complete(resumed.id, "all scenes drafted")
    assert (done.state, done.summary) == (SessionState.COMPLETED, "all scenes drafted")
    assert done.completed_at is not None
    assert [s.id for s in studio.sessions.list(SessionState.COMPLETED)] == [session.id]


@pytest.mark.req("RT-64")
@given(moves=st.lists(st.sampled_from(sorted(MOVES)), max_size=6))
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
async def test_only_listed_transitions_are_allowed(studio: Studio, moves: list[str]) -> None:
    session = await studio.sessions.create()
    state = session.state
    for move in moves:
        wanted = MOVES[move]
        act = {
            "activate": studio.sessions.resume,
            "suspend": studio.sessions.suspend,
            "complete": studio.sessions.complete,
            "fail": lambda session_id: studio.sessions.fail(session_id, "broken"),
        }[move]
        if wanted in SESSION_TRANSITIONS[state]:
            state = (await act(session.id)).state
            assert state is wanted
        else:
            with pytest.raises(Conflict, match=state.value):
                await act(session.id)
            assert studio.sessions.get(session.id).state is state


@pytest.mark.req("RT-66")
async def test_switching_suspends_the_session_left_behind(studio: Studio) -> None:
    first = await studio.sessions.create("first")
    second = await studio.sessions.create("second")
    here = await studio.sessions.switch("first")
    assert (here.id, here.state) == (first.id, SessionState.ACTIVE)
    assert studio.sessions.get(second.id).state is SessionState.SUSPENDED


@pytest.mark.req("RT-62")
async def test_suspending_pauses_the_sessions_runs_and_resuming_wakes_only_those(
    tmp_path: Path,
) -> None:
    Project.init(tmp_path)
    (tmp_path / "one.md").write_text("The lighthouse stands.\n")
    script = Script(
        Line("A brief.", agent="planner", times=None, hold="brief"),
        Line("The lighthouse " * 20, times=None),
    )
    async with open_scripted(tmp_path, script) as studio:
        session = await studio.sessions.create("work")
        run = await studio.start("recipe", {"subject": "lighthouse"}, session_id=session.id)
        other = await studio.start("recipe", {"subject": "lighthouse"}, session_id=session.id)
        await studio.engine.signal(other.id, SignalKind.CANCEL)
        mine = await studio.start("recipe", {"subject": "nothing here"}, session_id=session.id)
        await studio.engine.wait(mine.id)
        await script.reached("brief")
        script.release("brief")
        suspended = await studio.sessions.suspend(session.id)
        assert suspended.state is SessionState.SUSPENDED
        state = studio.engine.load(run.id).state
        assert state in (RunState.PAUSED, RunState.DONE)
        with pytest.raises(Conflict, match="suspended"):
            await studio.start("recipe", {}, session_id=session.id)
        await studio.sessions.resume(session.id)
        assert (await studio.engine.wait(run.id)).state is RunState.DONE
        assert studio.engine.load(other.id).state is RunState.CANCELLED


@pytest.mark.req("RT-59", "RT-60")
async def test_every_run_belongs_to_a_session_and_contexts_stay_apart(studio: Studio) -> None:
    first = await studio.sessions.create("first")
    second = await studio.sessions.create("second")
    await studio.sessions.update_context(first.id, lambda c: {**c, "task": "scene 5"})
    assert studio.sessions.get(first.id).context == {"task": "scene 5"}
    assert studio.sessions.get(second.id).context == {}
    run = await studio.start("recipe", {"subject": "lighthouse"}, session_id=first.id)
    assert run.session_id == first.id
    done = await studio.engine.wait(run.id)
    assert done.state is RunState.DONE
    with pytest.raises(NotFound, match="nobody"):
        await studio.start("recipe", {}, session_id="nobody")


async def test_an_active_session_with_open_runs_cannot_be_completed(tmp_path: Path) -> None:
    Project.init(tmp_path)
    (tmp_path / "one.md").write_text("The lighthouse stands.\n")
    script = Script(Line("x", times=None, hold="never"))
    async with open_scripted(tmp_path, script) as studio:
        session = await studio.sessions.create("work")
        run = await studio.start("recipe", {"subject": "lighthouse"}, session_id=session.id)
        with pytest.raises(Conflict, match="unfinished") as refused:
            await studio.sessions.complete(session.id)
        assert run.id in str(refused.value.fix)
        await studio.engine.signal(run.id, SignalKind.CANCEL)
        assert (await studio.sessions.complete(session.id)).state is SessionState.COMPLETED


async def test_all_who_ask_at_once_for_the_current_session_of_a_new_project_get_one(
    studio: Studio,
) -> None:
    got = await asyncio.gather(*(studio.sessions.current() for _ in range(5)))
    assert len({each.id for each in got}) == 1
    assert [each.name for each in studio.sessions.list()] == ["main"]
    assert got[0].state is SessionState.ACTIVE
