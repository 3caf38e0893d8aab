"""Whatever anything outside has seen is kept: a run goes on ahead of the disk, nothing else does.

The values are random, so that one that is computed again is another one. A witness stands at every
place where something leaves the process, and looks at the file by itself.
"""

import asyncio
import json
import random
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from theatre import open_in

from callboard.core.events import Emitted
from callboard.core.vocabulary import Effect, Question, RunState, SignalKind, StepState
from callboard.engine.scope import NotHappened
from callboard.store.backlog import MOST_ROWS, before_leaving
from callboard.store.connection import DiskFull, StoreError
from callboard.store.faults import NoFaults
from callboard.store.journal.questions import list_questions
from callboard.testing import Blackout, Moment

pytestmark = pytest.mark.anyio

OUTSIDE = ("idempotent", "once", "ask", "emit", "show", "leave")


class Witness:
    """Plays a program and writes down what left the process, and on what it depended."""

    def __init__(self, folder: Path, program: list[Any]) -> None:
        self.folder = folder
        self.program = program
        self.faults: Any = NoFaults()
        # Each time something left: where, and the values it knew, by the key of their step.
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.missing: list[str] = []

    def saw(self, where: str, known: dict[str, Any]) -> None:
        if getattr(self.faults, "is_dark", False):
            # The power was cut before: nobody sees it.
            return
        self.seen.append((where, dict(known)))
        stored = stored_outputs(self.folder)
        self.missing += [
            f"{where} left before {key}" for key, value in known.items() if stored.get(key) != value
        ]

    async def body(self, run: Any) -> Any:
        known: dict[str, Any] = {}
        await self.play(run, self.program, known)
        return known

    async def play(self, run: Any, program: list[Any], known: dict[str, Any]) -> None:
        for number, part in enumerate(program):
            if isinstance(part, tuple):

                async def branch(inner: Any, each: Any) -> dict[str, Any]:
                    own = dict(known)
                    await self.play(inner, [each], own)
                    return own

                spread = {
                    f"{number}.{index}": lambda inner, each=each: branch(inner, each)
                    for index, each in enumerate(part[1])
                }
                for own in (await run.parallel(spread)).values():
                    known.update(own)
            else:
                await self.leaf(run, str(number), part, known)

    async def leaf(self, run: Any, key: str, kind: str, known: dict[str, Any]) -> None:
        path = run.key(key)
        if kind in ("pure", "large", "companion"):
            known[path] = await run.step(key, drawing(kind, path), effect=Effect.PURE)
        elif kind in ("idempotent", "once"):
            known[path] = await self.act(run, key, Effect(kind), known)
        elif kind == "ask":
            known[path] = await run.ask_human(key, Question(json.dumps(known)), inputs=[])
        elif kind == "emit":
            await run.emit(path, dict(known))
        elif kind == "show":
            run.show(Emitted(path, dict(known)))
        else:
            await before_leaving()
            self.saw(path, known)

    async def act(self, run: Any, key: str, effect: Effect, known: dict[str, Any]) -> Any:
        async def act(_scope: Any) -> float:
            self.saw(run.key(key), known)
            return random.random()

        async def probe(_before: Any) -> Any:
            return NotHappened()

        return await run.step(key, act, effect=effect, probe=probe)

    async def finish(self, theatre: Any, run_id: str) -> Any:
        while True:
            run = await theatre.engine.wait(run_id, settled=True)
            if run.is_terminal:
                return run
            for asked in theatre.database.read(list_questions):
                self.saw(asked.key, json.loads(asked.question.text))
                await theatre.engine.answer(asked.id, random.random())
            await asyncio.sleep(0)

    async def watch(self, theatre: Any, run_id: str) -> None:
        async for event in theatre.engine.events(run_id=run_id):
            if isinstance(event.body, Emitted):
                self.saw(event.body.name, event.body.data)

    def listen(self, event: Any) -> None:
        if isinstance(event.body, Emitted):
            self.saw(event.body.name, event.body.data)

    async def perform(self, losses: list[int]) -> Any:
        run_id = ""
        for nth in [*losses, None]:
            self.faults = Blackout(Moment(None, nth)) if nth is not None else NoFaults()
            try:
                async with open_in(self.folder, {"body": self.body}, faults=self.faults) as theatre:
                    theatre.engine._backstage.live_listeners.append(self.listen)
                    run_id = run_id or await theatre.start("body")
                    watching = asyncio.ensure_future(self.watch(theatre, run_id))
                    try:
                        await theatre.engine.recover()
                        return await self.finish(theatre, run_id)
                    finally:
                        watching.cancel()
            except StoreError:
                run_id = run_id or only_run(self.folder)
        raise AssertionError("the last attempt is not interrupted")


def drawing(kind: str, path: str) -> Any:
    """Return a step that gives what nobody can compute again."""

    async def draw(scope: Any) -> Any:
        if kind == "companion":
            scope.commit_with(
                lambda c: c.execute(
                    "INSERT INTO meta (key, value) VALUES (?, '') ON CONFLICT DO NOTHING", (path,)
                )
            )
        drawn = random.random()
        return f"{drawn} " * 400 if kind == "large" else drawn

    return draw


def stored_outputs(folder: Path) -> dict[str, Any]:
    """Look at the file as a stranger does."""
    connection = sqlite3.connect(folder / "callboard.db")
    try:
        rows = connection.execute(
            "SELECT key, output, output_hash FROM steps WHERE state = 'done'"
        ).fetchall()
        blobs = dict(connection.execute("SELECT sha256, data FROM blobs").fetchall())
    finally:
        connection.close()
    return {key: json.loads(text if text is not None else blobs[name]) for key, text, name in rows}


def only_run(folder: Path) -> str:
    connection = sqlite3.connect(folder / "callboard.db")
    try:
        row = connection.execute("SELECT id FROM runs").fetchone()
    finally:
        connection.close()
    return "" if row is None else row[0]


leaves = st.sampled_from(["pure", "pure", "large", "companion", *OUTSIDE])
programs = st.lists(
    st.recursive(
        leaves,
        lambda inner: st.lists(inner, min_size=1, max_size=3).map(lambda each: ("parallel", each)),
        max_leaves=6,
    ),
    min_size=1,
    max_size=8,
)


@pytest.mark.timeout(300)
@settings(max_examples=40, deadline=None)
@given(program=programs, losses=st.lists(st.integers(1, 60), max_size=3))
def test_what_a_witness_saw_is_what_the_journal_holds(
    program: list[Any], losses: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        witness = Witness(Path(folder), program)
        run = asyncio.run(witness.perform(losses))
        kept = stored_outputs(Path(folder))
    assert run.state is RunState.DONE, run.error
    assert witness.missing == []
    for where, known in witness.seen:
        assert {key: kept.get(key) for key in known} == known, where


def committing(stop_at: list[bool], error: Exception) -> Any:
    """Return faults that let no commit through while told so."""

    class Faults:
        def reach(self, point: str) -> None:
            if point == "store.before_commit" and stop_at:
                raise error

    return Faults()


@pytest.mark.parametrize("outside", OUTSIDE)
async def test_after_a_row_that_failed_nothing_leaves(tmp_path: Path, outside: str) -> None:
    stop, is_stopped = list[bool](), list[bool]()
    witness = Witness(tmp_path, ["pure", outside])
    play = witness.play

    async def body(run: Any) -> Any:
        known: dict[str, Any] = {}
        await play(run, ["pure"], known)
        if not is_stopped:
            stop.append(True)
            is_stopped.append(True)
        await play(run.branch("after"), ["pure", outside], known)
        await play(run.branch("later"), ["once"], known)
        return known

    faults = committing(stop, DiskFull("no space left"))
    async with open_in(tmp_path, {"body": body}, faults=faults) as theatre:
        theatre.engine._backstage.live_listeners.append(witness.listen)
        run_id = await theatre.start("body")
        watching = asyncio.ensure_future(witness.watch(theatre, run_id))
        with pytest.raises(DiskFull):
            async with asyncio.timeout(20):
                await witness.finish(theatre, run_id)
        assert witness.seen == []
        stop.clear()
        # The watcher takes it up again by itself, once there is room.
        async with asyncio.timeout(30):
            while not theatre.engine.load(run_id).is_terminal:
                try:
                    await witness.finish(theatre, run_id)
                except DiskFull:
                    await asyncio.sleep(0.05)
        watching.cancel()
        kept = stored_outputs(tmp_path)
    assert witness.missing == []
    assert witness.seen
    for where, known in witness.seen:
        assert {key: kept.get(key) for key in known} == known, where


async def test_a_run_that_was_taken_over_with_rows_pending_lets_nothing_out(
    tmp_path: Path,
) -> None:
    go_on, seen = asyncio.Event(), list[str]()

    async def old(run: Any) -> None:
        async def draw(_scope: Any) -> float:
            return random.random()

        async def act(_scope: Any) -> None:
            seen.append("an effect of the old owner")

        await run.step("first", draw, effect=Effect.PURE)
        await run.durable()
        await go_on.wait()
        for number in range(20):
            await run.step(f"ahead/{number}", draw, effect=Effect.PURE)
        run.show(Emitted("a word of the old owner"))
        await run.step("act", act)

    async def new(run: Any) -> str:
        return "finished"

    async with open_in(tmp_path, {"body": old}) as theatre:
        theatre.engine._backstage.live_listeners.append(lambda event: seen.append(event.type))
        run_id = await theatre.start("body")
        task = theatre.engine._dispatcher.live(run_id).task
        await theatre.database.write(
            lambda c: c.execute("UPDATE runs SET owner = NULL WHERE id = ?", (run_id,)).rowcount
        )
        async with open_in(tmp_path, {"body": new}) as other:
            await other.engine.resume(run_id)
            assert (await other.engine.wait(run_id)).result == "finished"
            go_on.set()
            await asyncio.wait({task})
            assert set(other.journal(run_id)) <= {"first"}
    assert seen == []


async def test_a_record_the_database_refuses_fails_the_run_that_has_gone_on(
    tmp_path: Path,
) -> None:
    seen: list[str] = []

    async def body(run: Any) -> None:
        async def refused(scope: Any) -> int:
            scope.commit_with(
                lambda c: c.execute("INSERT INTO meta (key, value) VALUES ('schema_version', 'x')")
            )
            return 1

        async def draw(_scope: Any) -> int:
            return 2

        async def act(_scope: Any) -> None:
            seen.append("acted")

        await run.step("before", draw, effect=Effect.PURE)
        await run.step("refused", refused, effect=Effect.PURE)
        await run.step("after", act)

    async with open_in(tmp_path, {"body": body}) as theatre:
        async with asyncio.timeout(20):
            ended = await theatre.run("body")
        journal = theatre.journal(ended.id)
    assert (ended.state, ended.error.code) == (RunState.FAILED, "rule_broken")
    assert ended.error.context["step"] == "refused"
    assert {key: step.state for key, step in journal.items()} == {
        "before": StepState.DONE,
        "refused": StepState.FAILED,
    }
    assert seen == []


async def test_what_is_behind_is_bounded_in_rows_and_bytes(tmp_path: Path) -> None:
    most: list[int] = []

    async def body(run: Any) -> None:
        async def small(_scope: Any) -> int:
            most.append(run._live.backlog._handed_in - run._live.backlog._stored)
            return 1

        async def large(_scope: Any) -> str:
            most.append(run._live.backlog._bytes_behind // 1_000_000)
            return "x" * 1_500_000

        for number in range(400):
            await run.step(f"small/{number}", small, effect=Effect.PURE)
        for number in range(12):
            await run.step(f"large/{number}", large, effect=Effect.PURE)

    async with open_in(tmp_path, {"body": body}) as theatre:
        assert (await theatre.run("body")).state is RunState.DONE
    assert max(most[:400]) <= MOST_ROWS
    assert max(most[400:]) <= 5


async def test_a_run_of_steps_that_never_wait_hears_a_cancel(tmp_path: Path) -> None:
    async def body(run: Any) -> None:
        async def act(_scope: Any) -> int:
            return 1

        for number in range(1_000_000):
            await run.step(str(number), act, effect=Effect.PURE)

    async with open_in(tmp_path, {"body": body}) as theatre:
        run_id = await theatre.start("body")
        async with asyncio.timeout(30):
            signal = await theatre.engine.signal(run_id, SignalKind.CANCEL)
        assert signal.acknowledged_state is RunState.CANCELLED
        journal = theatre.journal(run_id)
    assert [step.seq for step in journal.values()] == list(range(1, len(journal) + 1))


async def test_a_run_sees_in_the_database_what_its_own_steps_left_there(tmp_path: Path) -> None:
    found: list[bool] = []

    async def body(run: Any) -> None:
        async def keep(scope: Any) -> int:
            scope.commit_with(
                lambda c: c.execute("INSERT INTO meta (key, value) VALUES ('left', 'here')")
            )
            return 1

        await run.step("keep", keep, effect=Effect.PURE)
        rows = theatre.database.read(
            lambda c: c.execute("SELECT value FROM meta WHERE key = 'left'").fetchall()
        )
        found.append(len(rows) == 1)

    async with open_in(tmp_path, {"body": body}) as theatre:
        assert (await theatre.run("body")).state is RunState.DONE
    assert found == [True]
