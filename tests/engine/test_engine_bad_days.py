"""Days on which a run is stranded, doubled or silently lost, unless the engine sees to it."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callboard.core.errors import Conflict
from callboard.core.vocabulary.run import (
    Effect,
    Question,
    RunState,
    SignalKind,
    SignalRecord,
    StepState,
)
from callboard.store.connection import DiskFull
from callboard.store.journal.questions import list_questions
from callboard.store.journal.signals import insert_signal, load_signal
from stores import holding_line

pytestmark = pytest.mark.anyio

HERE = str(Path(__file__).parent)

# Begins a run in a process of its own, under a host name, and says so; then waits to be killed.
DOOMED = """
import asyncio, os, socket, sys
from pathlib import Path
socket.gethostname = lambda: "container-1"
sys.path.insert(0, sys.argv[2])
from theatre import open_in

async def body(run):
    async def first(_scope): return 1
    await run.step("first", first)
    {then}
    print("ready", flush=True)
    await asyncio.Event().wait()

async def main():
    async with open_in(Path(sys.argv[1]), {{"body": body}}) as theatre:
        await theatre.start("body")
        await asyncio.Event().wait()

asyncio.run(main())
"""


def doomed(folder: Path, then: str = "pass") -> Callable[[], None]:
    """Return what kills a process that executes a run, as soon as it does."""
    code = DOOMED.format(then=then)
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(folder), HERE], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"

    def kill() -> None:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()

    return kill


async def finishing(run: Any) -> str:
    async def first(_scope: Any) -> int:
        return 1

    await run.step("first", first)
    return "finished"


async def until(holds: Callable[[], Any]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.01)


def run_ids(theatre: Any) -> list[str]:
    return theatre.database.read(
        lambda c: [row["id"] for row in c.execute("SELECT id FROM runs ORDER BY position")]
    )


async def test_a_run_of_a_process_that_died_under_another_host_name_goes_on(
    open_theatre: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill = doomed(tmp_path)
    kill()
    monkeypatch.setattr(socket, "gethostname", lambda: "container-2")

    async with open_theatre({"body": finishing}) as theatre:
        [recovered] = await theatre.engine.recover()
        ended = await theatre.engine.wait(recovered.id)

    assert ended.result == "finished"


async def test_a_living_process_under_another_host_name_keeps_its_run(
    open_theatre: Any, tmp_path: Path
) -> None:
    kill = doomed(tmp_path)
    try:
        async with open_theatre({"body": finishing}) as theatre:
            assert await theatre.engine.recover() == []
            with pytest.raises(Conflict, match="another process"):
                await theatre.engine.resume(run_ids(theatre)[0])
    finally:
        kill()


async def test_a_child_that_a_tool_forked_does_not_keep_its_dead_parent_alive(
    open_theatre: Any, tmp_path: Path
) -> None:
    forked = (
        "import multiprocessing, time;"
        " child = multiprocessing.get_context('fork').Process(target=time.sleep, args=(60,));"
        " child.start(); Path(sys.argv[1], 'child').write_text(str(child.pid))"
    )
    kill = doomed(tmp_path, then=forked)
    kill()
    try:
        async with open_theatre({"body": finishing}) as theatre:
            [recovered] = await theatre.engine.recover()
            assert (await theatre.engine.wait(recovered.id)).state is RunState.DONE
    finally:
        os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)


@pytest.mark.parametrize("inside", ["step", "choreography"])
async def test_a_cancellation_nobody_sent_fails_the_run(open_theatre: Any, inside: str) -> None:
    async def leak(_scope: Any = None) -> None:
        task = asyncio.create_task(asyncio.Event().wait())
        await asyncio.sleep(0)
        task.cancel()
        await task

    async def body(run: Any) -> None:
        await (run.step("leaky", leak) if inside == "step" else leak())

    async with open_theatre({"body": body}) as theatre:
        async with asyncio.timeout(10):
            ended = await theatre.run("body")

    assert ended.state is RunState.FAILED
    assert ended.error.code == "cancelled_from_inside"


async def test_an_effect_that_raised_after_its_intent_is_asked_about_not_repeated(
    open_theatre: Any,
) -> None:
    paid: list[str] = []

    async def body(run: Any) -> Any:
        async def pay(_scope: Any) -> str:
            paid.append("paid")
            raise ConnectionResetError("the peer closed the connection")

        return await run.step("pay", pay, effect=Effect.ONCE)

    async with open_theatre({"body": body}) as theatre:
        failed = await theatre.run("body")
        assert theatre.journal(failed.id)["pay"].state is StepState.UNKNOWN
        again = await theatre.engine.retry(failed.id)
        await theatre.engine.wait(again.id, settled=True)
        asked = theatre.database.read(list_questions)

    assert paid == ["paid"]
    assert ["pay" in each.question.text for each in asked] == [True]


async def test_an_effect_that_was_refused_by_kind_is_simply_tried_again(open_theatre: Any) -> None:
    tries: list[int] = []

    async def body(run: Any) -> Any:
        async def pay(_scope: Any) -> str:
            tries.append(1)
            if len(tries) == 1:
                raise Conflict("The shop is closed")
            return "paid"

        return await run.step("pay", pay, effect=Effect.ONCE)

    async with open_theatre({"body": body}) as theatre:
        failed = await theatre.run("body")
        again = await theatre.engine.retry(failed.id)
        ended = await theatre.engine.wait(again.id, settled=True)

    assert (failed.state, ended.result, len(tries)) == (RunState.FAILED, "paid", 2)


async def test_a_cancel_while_the_intent_is_stored_leaves_no_question(open_theatre: Any) -> None:
    acted: list[int] = []

    async def body(run: Any) -> Any:
        async def pay(_scope: Any) -> str:
            acted.append(1)
            return "paid"

        return await run.step("pay", pay, effect=Effect.ONCE)

    class AtIntent:
        hook: Callable[[], None] | None = None

        def reach(self, point: str) -> None:
            if point == "step.before_intent" and self.hook is not None:
                hook, self.hook = self.hook, None
                hook()

    faults = AtIntent()
    async with open_theatre({"body": body}, faults=faults) as theatre:
        run = await theatre.engine.create("body", {}, theatre.session_id, dispatch=False)

        def cancel() -> None:
            live = theatre.engine._dispatcher.live(run.id)
            sent = SignalRecord("sig_x", run.id, SignalKind.CANCEL, 0)
            asyncio.get_running_loop().call_soon(live.receive, sent)

        faults.hook = cancel
        await theatre.engine.resume(run.id)
        cancelled = await theatre.engine.wait(run.id)
        assert acted == []
        again = await theatre.engine.retry(run.id)
        ended = await theatre.engine.wait(again.id, settled=True)

    assert cancelled.state is RunState.CANCELLED
    assert (ended.result, acted) == ("paid", [1])


async def test_whoever_asks_for_a_run_may_leave_while_it_is_claimed(open_theatre: Any) -> None:
    async with open_theatre({"body": finishing}) as theatre:
        stored = await theatre.engine.create("body", {}, theatre.session_id, dispatch=False)
        asking = asyncio.create_task(theatre.engine.resume(stored.id))
        starting = asyncio.create_task(theatre.engine.create("body", {}, theatre.session_id))
        await asyncio.sleep(0)
        asking.cancel()
        starting.cancel()
        await asyncio.wait({asking, starting})

        await until(
            lambda: (
                [theatre.engine.load(each).state for each in run_ids(theatre)]
                == [RunState.DONE, RunState.DONE]
            )
        )


class Disk:
    """A disk that can be full."""

    is_full = False

    def reach(self, point: str) -> None:
        if point == "store.before_commit" and self.is_full:
            raise DiskFull("no room")


async def test_a_run_that_a_full_disk_stopped_goes_on_by_itself_when_there_is_room(
    open_theatre: Any,
) -> None:
    disk, goes_on = Disk(), asyncio.Event()

    async def body(run: Any) -> str:
        async def wait(_scope: Any) -> int:
            await goes_on.wait()
            return 1

        await run.step("waits", wait)
        return "done"

    async with open_theatre({"body": body}, faults=disk) as theatre:
        run_id = await theatre.start("body")
        disk.is_full = True
        goes_on.set()
        await until(lambda: theatre.engine._dispatcher.live(run_id).interruption)
        disk.is_full = False
        await until(lambda: theatre.engine.load(run_id).state is RunState.DONE)


async def test_a_run_that_could_not_be_given_back_can_be_cancelled_from_elsewhere(
    open_theatre: Any,
) -> None:
    disk, goes_on = Disk(), asyncio.Event()

    async def body(run: Any) -> None:
        async def wait(_scope: Any) -> int:
            await goes_on.wait()
            return 1

        await run.step("waits", wait)
        await asyncio.Event().wait()

    async with open_theatre({"body": body}, faults=disk) as server:
        run_id = await server.start("body")
        disk.is_full = True
        goes_on.set()
        await until(lambda: server.engine._dispatcher.live(run_id).interruption)
        disk.is_full = False
        async with open_theatre({"body": finishing}) as other:
            async with asyncio.timeout(30):
                sent = await other.engine.signal(run_id, SignalKind.CANCEL)

    assert sent.acknowledged_state is RunState.CANCELLED


async def test_a_lock_somebody_holds_for_long_does_not_end_a_run(
    open_theatre: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("callboard.store.sqlite.line._PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr("callboard.store.postgres.address.PATIENCE_SECONDS", 0.2)
    goes_on = asyncio.Event()

    async def body(run: Any) -> str:
        async def wait(_scope: Any) -> int:
            await goes_on.wait()
            return 1

        await run.step("waits", wait)
        return "done"

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        with holding_line(tmp_path / "callboard.db"):
            goes_on.set()
            await until(lambda: theatre.engine._dispatcher.live(run_id).interruption)
        await until(lambda: theatre.engine.load(run_id).state is RunState.DONE)


async def test_what_another_process_left_behind_is_taken_up_while_this_one_lives(
    open_theatre: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("callboard.engine.recovery.ADOPT_SECONDS", 0.05)
    kill = doomed(tmp_path)
    async with open_theatre({"body": finishing}) as theatre:
        [run_id] = run_ids(theatre)
        assert await theatre.engine.recover() == []
        kill()
        await until(lambda: theatre.engine.load(run_id).state is RunState.DONE)


@pytest.mark.parametrize("how", ["resume", "recover"])
async def test_a_pause_that_was_acknowledged_holds_whoever_takes_the_run_up(
    open_theatre: Any, how: str
) -> None:
    executed: list[int] = []

    async def body(run: Any) -> None:
        async def act(_scope: Any) -> int:
            executed.append(1)
            return 1

        await run.step("act", act)

    async with open_theatre({"body": body}) as theatre:
        run = await theatre.engine.create("body", {}, theatre.session_id, dispatch=False)
        taking = theatre.engine.resume(run.id) if how == "resume" else theatre.engine.recover()
        sent, _ = await asyncio.gather(
            theatre.engine.signal(run.id, SignalKind.PAUSE), taking, return_exceptions=True
        )
        assert sent.acknowledged_state is RunState.PAUSED
        assert theatre.engine.load(run.id).state is RunState.PAUSED
        assert executed == []


POISON = """
import asyncio, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from theatre import open_in

async def body(run):
    async def deadly(_scope):
        with open(Path(sys.argv[1], "log"), "a") as log:
            log.write("x")
        os._exit(139)
    await run.step("deadly", deadly)

async def main():
    async with open_in(Path(sys.argv[1]), {"body": body}) as theatre:
        if sys.argv[3] == "0":
            await theatre.start("body")
        elif not await theatre.engine.recover(most_deaths=3):
            return
        await asyncio.Event().wait()

asyncio.run(main())
"""


def poison(folder: Path, number: int) -> int:
    command = [sys.executable, "-c", POISON, str(folder), HERE, str(number)]
    return subprocess.run(command, check=False).returncode


async def test_a_run_that_keeps_killing_its_process_is_given_up(
    open_theatre: Any, tmp_path: Path
) -> None:
    codes = [poison(tmp_path, number) for number in range(4)]

    assert codes == [139, 139, 139, 0]
    assert (tmp_path / "log").read_text() == "xxx"
    async with open_theatre({"body": finishing}) as theatre:
        [run_id] = run_ids(theatre)
        given_up = theatre.engine.load(run_id)
        assert given_up.state is RunState.FAILED
        assert "died 3 times" in given_up.error.message
        again = await theatre.engine.retry(run_id)
        assert (await theatre.engine.wait(again.id)).result == "finished"


async def test_data_that_breaks_a_rule_of_the_database_fails_its_step_and_is_told(
    open_theatre: Any,
) -> None:
    async def body(run: Any) -> Any:
        async def act(scope: Any) -> int:
            scope.commit_with(
                lambda c: c.execute("INSERT INTO meta (key, value) VALUES ('schema_version', 'x')")
            )
            return 1

        return await run.step("act", act)

    async with open_theatre({"body": body}) as theatre:
        async with asyncio.timeout(10):
            ended = await theatre.run("body")
        step = theatre.journal(ended.id)["act"]

    assert (ended.state, ended.error.code) == (RunState.FAILED, "rule_broken")
    assert step.state is StepState.FAILED


async def test_a_step_that_crashed_as_once_may_be_idempotent_in_newer_code(
    open_theatre: Any,
) -> None:
    effect, hold = [Effect.ONCE], asyncio.Event()

    async def body(run: Any) -> Any:
        async def act(_scope: Any) -> str:
            if effect[0] is Effect.ONCE:
                await hold.wait()
            return "ok"

        return await run.step("act", act, effect=effect[0])

    async with open_theatre({"body": body}) as first:
        run_id = await first.start("body")
        await until(lambda: "act" in first.journal(run_id))
        await first.database.write(
            lambda c: c.execute("UPDATE runs SET owner = NULL WHERE id = ?", (run_id,)).rowcount
        )
        effect[0] = Effect.IDEMPOTENT
        async with open_theatre({"body": body}) as second:
            await second.engine.resume(run_id)
            assert (await second.engine.wait(run_id)).result == "ok"
        hold.set()


async def test_a_step_gives_the_same_value_executed_and_replayed(open_theatre: Any) -> None:
    seen: list[Any] = []

    async def body(run: Any) -> None:
        async def act(_scope: Any) -> Any:
            return {1: "one", "pair": (1, 2)}

        seen.append(await run.step("act", act))
        await run.ask_human("go", Question("Go on?"))

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        await theatre.engine.wait(run_id, settled=True)
    async with open_theatre({"body": body}) as theatre:
        await theatre.engine.recover()
        await theatre.engine.wait(run_id, settled=True)

    assert seen == [{"1": "one", "pair": [1, 2]}] * 2


async def test_an_execution_that_lost_its_run_writes_nothing_more_into_it(
    open_theatre: Any,
) -> None:
    speak = asyncio.Event()

    async def zombie(run: Any) -> None:
        await speak.wait()
        await run.emit("a word of the old owner")
        await run.ask_human("question", Question("Asked by the old owner?"))

    async with open_theatre({"body": zombie}) as old:
        run_id = await old.start("body")
        task = old.engine._dispatcher.live(run_id).task
        await old.database.write(
            lambda c: c.execute("UPDATE runs SET owner = NULL WHERE id = ?", (run_id,)).rowcount
        )
        async with open_theatre({"body": finishing}) as new:
            await new.engine.resume(run_id)
            assert (await new.engine.wait(run_id)).result == "finished"
            speak.set()
            await asyncio.wait({task})
            told = new.database.read(
                lambda c: [
                    row["type"]
                    for row in c.execute("SELECT type FROM events WHERE run_id = ?", (run_id,))
                ]
            )
            assert new.database.read(lambda c: list_questions(c, only_open=False)) == []

    assert "emitted" not in told


async def test_a_unit_that_raises_stop_iteration_answers_its_waiter(open_theatre: Any) -> None:
    def work(_connection: Any) -> None:
        next(iter(()))

    async with open_theatre({}) as theatre:
        async with asyncio.timeout(10):
            with pytest.raises(RuntimeError, match="StopIteration"):
                await theatre.database.write(work)


async def test_rows_of_one_commit_are_stored_in_the_order_they_were_handed_in(
    open_theatre: Any,
) -> None:
    from callboard.store.writer import Rows

    insert = "INSERT INTO meta (key, value) VALUES (?, '')"

    async with open_theatre({}) as theatre:
        seen: list[bool] = []

        def look(connection: Any) -> None:
            found = connection.execute("SELECT 1 FROM meta WHERE key = 'handed in before'")
            seen.append(found.fetchone() is not None)

        await asyncio.gather(
            theatre.database.write(Rows(((insert, ("handed in before",)),))),
            theatre.database.write(look),
        )

    assert seen[-1] is True


async def test_a_pause_that_comes_while_a_resumption_is_stored_is_not_swallowed(
    open_theatre: Any,
) -> None:
    async def body(run: Any) -> None:
        async def act(_scope: Any) -> int:
            return 1

        for number in range(1_000_000):
            await run.step(str(number), act)

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        assert (await theatre.engine.signal(run_id, SignalKind.PAUSE)).acknowledged_at
        signals = [
            SignalRecord(f"sig_{kind.value}", run_id, kind, created_at=1)
            for kind in (SignalKind.RESUME, SignalKind.PAUSE)
        ]

        def send(connection: Any) -> None:
            for signal in signals:
                insert_signal(connection, signal)

        # Both are there when the owner looks.
        await theatre.database.write(send)
        theatre.engine._dispatcher.poke()

        def states() -> list[RunState | None]:
            found = theatre.database.read(lambda c: [load_signal(c, each.id) for each in signals])
            return [each.acknowledged_state for each in found]

        await until(lambda: all(states()))
        assert states() == [RunState.RUNNING, RunState.PAUSED]
        assert theatre.engine.load(run_id).state is RunState.PAUSED
