"""Two processes on one project: both see everything, none does what the other is doing."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crashlab import KILLED, PLAYS, Expected, Stagehand, Trial, plain

from callboard.core.vocabulary import RunState
from callboard.studio.opening import Opening
from callboard.studio.studio import Studio
from callboard.testing import Line, Script
from callboard.testing.opening import SCRIPTED

pytestmark = [pytest.mark.anyio, pytest.mark.chaos, pytest.mark.timeout(300)]

SEA = "the lighthouse and the sea " * 10


def opening(script: Script) -> Opening:
    return Opening(providers={"script": script}, flags=SCRIPTED)


def held_script() -> Script:
    """Hold the first call until the test lets it go; the step is in flight meanwhile."""
    return Script(Line(SEA, hold="door"), Line(SEA, times=None))


async def test_a_run_in_good_hands_is_seen_but_not_touched(
    stagehand: Stagehand, tmp_path: Path
) -> None:
    trial = Trial(stagehand, tmp_path / "trial", "recipe")
    script = held_script()
    async with Studio.open(trial.root, opening(script)) as studio:
        run = await studio.start("recipe", {})
        await script.reached("door")
        found = await asyncio.to_thread(trial.visit, "look", run_id=run.id)
        script.release("door")
        finished = await studio.engine.wait(run.id)
    assert found["state"] == "running"
    assert found["events"] > 0
    assert "another process" in found["refused"]
    assert trial.seen() == []
    assert finished.state is RunState.DONE
    assert set(Counter(call.request.step_key for call in script.calls).values()) == {1}


@pytest.mark.parametrize(
    ("signal", "state"), [("pause", RunState.PAUSED), ("cancel", RunState.CANCELLED)]
)
async def test_a_signal_reaches_the_process_that_executes_the_run(
    stagehand: Stagehand, tmp_path: Path, signal: str, state: RunState
) -> None:
    trial = Trial(stagehand, tmp_path / "trial", "recipe")
    script = held_script()
    async with Studio.open(trial.root, opening(script)) as studio:
        run = await studio.start("recipe", {})
        await script.reached("door")
        sending = asyncio.ensure_future(
            asyncio.to_thread(trial.visit, "send", run_id=run.id, signal=signal)
        )
        live = studio.engine._dispatcher.live(run.id)
        while not (live.is_held or live.cancelling):
            await asyncio.sleep(0.001)
        script.release("door")
        assert await sending == {"state": state.value}
        assert studio.engine.load(run.id).state is state


async def test_an_answer_reaches_the_process_that_executes_the_run(
    stagehand: Stagehand, tmp_path: Path
) -> None:
    trial = Trial(stagehand, tmp_path / "trial", "turn")
    script = Script(lambda request: "No." if request.step_key == "answer" else SEA)
    async with Studio.open(trial.root, opening(script)) as studio:
        run = await studio.start("examples/turn", {"message": "Where is the key?"})
        assert (await studio.engine.wait(run.id, settled=True)).state is RunState.WAITING
        await asyncio.to_thread(trial.visit, "answer")
        assert (await studio.engine.wait(run.id)).state is RunState.DONE
    assert trial.seen() == []


async def test_the_run_of_a_killed_process_is_taken_over_by_one_that_was_there_before(
    stagehand: Stagehand, tmp_path: Path, calm: Callable[[str], Expected]
) -> None:
    trial = Trial(stagehand, tmp_path / "trial", "recipe")
    expected = calm("recipe")
    script = Script(lambda request: f"{request.step_key}: {SEA}")
    async with Studio.open(trial.root, opening(script)) as studio:
        killed = await asyncio.to_thread(trial.perform, kill=["step.after_record", 3])
        assert killed == KILLED
        (run,) = await studio.engine.recover()
        run = await studio.engine.wait(run.id)
    assert plain(run.result) == expected.result
    finished, _, _ = trial.kills[0]
    # The third was only handed in, and nobody had seen it.
    assert len(finished) >= 2
    again = {call.request.step_key for call in script.calls}
    assert not finished & again


async def test_of_two_that_find_an_orphan_at_once_one_takes_it(
    stagehand: Stagehand,
    second_stagehand: Stagehand,
    tmp_path: Path,
    calm: Callable[[str], Expected],
) -> None:
    expected = calm("ledger")
    for number in range(6):
        trial = Trial(stagehand, tmp_path / str(number), "ledger")
        assert trial.perform(kill=["step.after_intent", 1 + number % 3]) == KILLED
        finished, _, position = trial.kills[0]
        rival = Rival(trial, second_stagehand)
        thread = threading.Thread(target=rival.perform)
        thread.start()
        outcome = trial.recover()
        thread.join()
        assert rival.exit_code == 0, rival.outcome.read_text("utf-8")
        after = Counter(trial.seen()[position:])
        assert not finished & set(after)
        assert max(after.values()) == 1
        trial.check(outcome, expected)


class Rival:
    """Another process that opens the same project at the same time."""

    def __init__(self, trial: Trial, stagehand: Stagehand) -> None:
        self._trial = trial
        self._stagehand = stagehand
        self.outcome = trial.folder / "rival.json"
        self.exit_code: int | None = None

    def perform(self) -> None:
        name, args, short_answer = PLAYS[self._trial.play]
        job: dict[str, Any] = {
            "root": str(self._trial.root),
            "witness": str(self._trial.witness),
            "outcome": str(self.outcome),
            "play": name,
            "args": args,
            "short_answer": short_answer,
        }
        self.exit_code = self._stagehand.perform(job)
