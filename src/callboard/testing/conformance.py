"""The conformance suite: what holds for every choreography, proven for one by naming its scenarios.

Derive a test class from `Conformance` and give it `scenarios`; pytest does the rest. Each test
makes projects of its own and loses the process, the provider or its patience at every step.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest

from callboard.core.errors import Conflict
from callboard.core.vocabulary import RunRecord, RunState, SignalKind
from callboard.models import Failure, Line
from callboard.store.connection import StoreError
from callboard.store.journal.events import read_events
from callboard.studio.studio import Studio
from callboard.testing.faults import Blackout, Moment, Passages
from callboard.testing.witness import Scenario, WitnessedProject, agent_keys, plain, tool_keys
from callboard.tools import verify

NewProject = Callable[[], WitnessedProject]
"""Makes a fresh project of a scenario, each time another."""

_FAILURES: Final = {
    "http 500": (Line(fail=Failure(500)), "provider_error", "external_degrading"),
    "http 429": (Line(fail=Failure(429)), "rate_limited", "external_rate_limit"),
    "dropped": (Line(drop_after=9), "provider_error", "transient"),
}


async def crash_and_recover(project: WitnessedProject, moment: Moment) -> tuple[RunRecord, str]:
    """Start a run, lose the process at a moment, open the project again and let it finish."""
    run_id = ""
    with pytest.raises(StoreError, match="power was cut"):
        async with project.open(Blackout(moment)) as studio:
            run_id = await project.start(studio)
            await project.finish(studio, run_id)
            pytest.fail(f"{moment} was never reached")
    before = len(project.executed)
    async with project.open(recover=False) as studio:
        finished = project.finished(studio, run_id)
        await studio.engine.recover()
        run = await project.finish(studio, run_id)
        receipts = sorted(project.receipts(studio, run_id))
        assert receipts == tool_keys(project.journal(studio, run_id))
        await studio.mirrors.flush()
        assert verify(studio.database, studio.project.trail).flaws == ()
    again = {key for _, key in project.executed[before:]}
    assert not finished & again, f"finished before {moment}, executed again after it"
    return run, run_id


async def check_it_stays_cancelled(project: WitnessedProject, studio: Studio, run_id: str) -> None:
    """Refuse a cancelled run that has a late effect, or takes another signal."""

    def state() -> tuple[Any, ...]:
        events = studio.database.read(lambda c: read_events(c, run_id=run_id))
        changes = [each.body for each in events if each.type == "run.changed"]
        return (
            project.finished(studio, run_id),
            project.receipts(studio, run_id),
            [getattr(body, "state", None) for body in changes],
            len(events),
            len(project.executed),
        )

    before = state()
    for _ in range(50):
        # Everything that could still happen gets the chance to happen.
        await asyncio.sleep(0)
    assert state() == before
    assert studio.engine.load(run_id).state is RunState.CANCELLED
    finished, receipts, states, *_ = before
    assert sorted(receipts) == sorted(set(receipts))
    # A call that was stopped leaves the receipt of a failure, and no finished step.
    assert set(project.receipts(studio, run_id, succeeded=True)) <= finished
    assert states.count("cancelled") == 1
    assert states[-1] == "cancelled"
    for kind in SignalKind:
        with pytest.raises(Conflict, match="cancelled"):
            await studio.engine.signal(run_id, kind)


class Conformance:
    """Tests of a choreography: derive a class whose name begins with `Test`, name its scenarios."""

    scenarios: ClassVar[Mapping[str, Scenario]]
    # The settings that choose a dispatcher, by its name.
    dispatchers: ClassVar[Mapping[str, Mapping[str, Any]]] = {"embedded": {}}
    least_steps: ClassVar[int] = 1
    pytestmark = pytest.mark.anyio

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run every test with every scenario on every dispatcher."""
        if "scenario" in metafunc.fixturenames:
            assert self.scenarios, f"{type(self).__name__} has no scenarios"
            metafunc.parametrize("scenario", self.scenarios.values(), ids=list(self.scenarios))
            metafunc.parametrize(
                "dispatcher", self.dispatchers.values(), ids=list(self.dispatchers)
            )

    @pytest.fixture
    def anyio_backend(self) -> str:
        """Run on asyncio, as Callboard does."""
        return "asyncio"

    @pytest.fixture
    def fresh(
        self, scenario: Scenario, dispatcher: Mapping[str, Any], tmp_path: Path
    ) -> NewProject:
        """Return a maker of fresh projects."""
        made: list[WitnessedProject] = []

        def make() -> WitnessedProject:
            made.append(WitnessedProject(tmp_path / f"project{len(made)}", scenario, dispatcher))
            return made[-1]

        return make

    async def test_it_runs_to_done_with_one_receipt_per_tool_step(self, fresh: NewProject) -> None:
        """Every model is asked once, every tool runs once and leaves a receipt."""
        project = fresh()
        run, journal = await project.perform()
        assert run.state is RunState.DONE, run.error
        assert len(journal) >= self.least_steps
        executed = dict.fromkeys(agent_keys(journal) + tool_keys(journal), 1)
        assert project.executions(run.id) == executed
        async with project.open() as studio:
            assert sorted(project.receipts(studio, run.id)) == tool_keys(journal)
        assert project.script.unexpected == []

    @pytest.mark.parametrize("point", ["step.before_record", "step.after_record"])
    async def test_a_crash_at_every_step_boundary_changes_nothing(
        self, fresh: NewProject, point: str
    ) -> None:
        """The process is lost at each step in turn; the run ends as if it had not been."""
        passages = Passages()
        project = fresh()
        async with project.open(passages) as studio:
            expected = await project.finish(studio, await project.start(studio))
            journal = project.journal(studio, expected.id)
        assert passages.counts[point] == len(journal)
        for nth in range(1, len(journal) + 1):
            project = fresh()
            run, run_id = await crash_and_recover(project, Moment(point, nth))
            assert run.state is RunState.DONE
            assert plain(run.result) == plain(expected.result)
            # Only what was in flight at the crash is executed a second time.
            assert len(project.executions(run_id)) <= len(journal)
            assert max(project.executions(run_id).values()) <= 2

    async def test_replaying_a_finished_journal_asks_no_model_and_runs_no_tool(
        self, fresh: NewProject
    ) -> None:
        """A run that is lost at its very end is finished from its journal alone."""
        expected, journal = await fresh().perform()
        project = fresh()
        run_id = ""
        with pytest.raises(StoreError):
            dark = Blackout(Moment("run.before_finish"))
            async with project.open(dark) as studio:
                dark.keep = studio.database.flush
                run_id = await project.start(studio)
                await project.finish(studio, run_id)
        executed = dict.fromkeys(agent_keys(journal) + tool_keys(journal), 1)
        assert project.executions(run_id) == executed
        project.executed.clear()
        async with project.open() as studio:
            run = await project.finish(studio, run_id)
            assert project.journal(studio, run_id).keys() == journal.keys()
            assert sorted(project.receipts(studio, run_id)) == tool_keys(journal)
        assert project.executed == []
        assert run.state is RunState.DONE
        assert plain(run.result) == plain(expected.result)

    async def test_a_fork_from_every_step_gives_the_same_and_shares_what_came_before(
        self, fresh: NewProject
    ) -> None:
        """What came before the step is not executed again, and the first run stays as it was."""
        project = fresh()
        async with project.open() as studio:
            first = await project.finish(studio, await project.start(studio))
            journal = project.journal(studio, first.id)
            for key, step in journal.items():
                fork = await studio.engine.fork(first.id, from_step=key)
                run = await project.finish(studio, fork.id)
                assert run.state is RunState.DONE, (key, run.error)
                assert plain(run.result) == plain(first.result)
                earlier = {k for k, s in journal.items() if s.seq < step.seq and s.state == "done"}
                assert not earlier & set(project.executions(run.id)), key
                assert set(project.receipts(studio, run.id)).isdisjoint(earlier)
            assert studio.engine.load(first.id) == first

    async def test_a_fork_with_an_edited_slot_shows_it_to_what_follows(
        self, fresh: NewProject
    ) -> None:
        """An edit is seen by later steps, and never by the run it was forked from."""
        project = fresh()
        if not project.scenario.edits:
            pytest.skip("the scenario names no edits")
        async with project.open() as studio:
            first = await project.finish(studio, await project.start(studio))
            for slot, (value, trace) in project.scenario.edits.items():
                fork = await studio.engine.fork(first.id, edits={slot: value})
                run = await project.finish(studio, fork.id)
                assert run.state is RunState.DONE, (slot, run.error)
                prompts = [text for run_id, _, text in project.prompts if run_id == run.id]
                shown = (*prompts, *project.executions(run.id), str(run.result))
                assert any(trace in text for text in shown), slot
                assert slot not in project.executions(run.id)
                old = [text for run_id, _, text in project.prompts if run_id == first.id]
                assert not any(trace in text for text in (*old, str(first.result)))

    @pytest.mark.parametrize("failure", _FAILURES)
    async def test_a_failed_call_fails_its_step_and_a_retry_executes_only_what_is_missing(
        self, fresh: NewProject, failure: str
    ) -> None:
        """Each model call fails in turn; what was done before it is kept."""
        line, code, tier = _FAILURES[failure]
        expected, journal = await fresh().perform()
        for key in agent_keys(journal):
            project = fresh()
            project.special[key] = line
            async with project.open() as studio:
                run = await project.finish(studio, await project.start(studio))
                error = project.journal(studio, run.id)[key].error
                assert error is not None
                assert (error.code, error.to_json()["tier"]) == (code, tier)
                said = project.scenario.says(key)[: line.drop_after or 0]
                assert (error.context.get("partial") or "") == said
                done = project.done(studio, run.id)
                del project.special[key]
                if key in project.scenario.survives:
                    assert run.state is RunState.DONE
                    again = await studio.engine.fork(run.id, from_step=key)
                else:
                    assert run.state is RunState.FAILED
                    assert run.error is not None
                    assert run.error.context["step"] == key
                    again = await studio.engine.retry(run.id)
                second = await project.finish(studio, again.id)
            assert second.state is RunState.DONE
            assert plain(second.result) == plain(expected.result)
            executed = set(project.executions(second.id))
            assert key in executed
            if key not in project.scenario.survives:
                assert not executed & done

    async def test_a_call_that_hangs_is_cancelled_and_retried(self, fresh: NewProject) -> None:
        """Each model call hangs in turn; the user cancels and tries again."""
        expected, journal = await fresh().perform()
        for key in agent_keys(journal):
            project = fresh()
            project.special[key] = Line(hang=True, hold=key)
            async with project.open() as studio:
                run_id = await project.start(studio)
                ending = asyncio.ensure_future(project.finish(studio, run_id))
                await project.script.reached(key)
                project.script.release(key)
                signal = await studio.engine.signal(run_id, SignalKind.CANCEL)
                assert signal.acknowledged_state is RunState.CANCELLED
                assert (await ending).state is RunState.CANCELLED
                done = project.done(studio, run_id)
                del project.special[key]
                second = await project.finish(studio, (await studio.engine.retry(run_id)).id)
            assert plain(second.result) == plain(expected.result)
            assert not done & set(project.executions(second.id))

    async def test_a_model_call_in_flight_is_cancelled_without_a_late_effect(
        self, fresh: NewProject
    ) -> None:
        """Each model call is cancelled in turn while it is under way."""
        _, journal = await fresh().perform()
        for key in agent_keys(journal):
            project = fresh()
            project.special[key] = Line(hold=key)
            async with project.open() as studio:
                run_id = await project.start(studio)
                answering = asyncio.ensure_future(project.finish(studio, run_id))
                await project.script.reached(key)
                signal = await studio.engine.signal(run_id, SignalKind.CANCEL, "enough")
                assert signal.acknowledged_state is RunState.CANCELLED
                project.script.release(key)
                assert (await answering).state is RunState.CANCELLED
                assert key not in project.finished(studio, run_id)
                await check_it_stays_cancelled(project, studio, run_id)
