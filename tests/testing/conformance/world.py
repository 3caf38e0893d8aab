"""An engine on a small database, and a world outside of it that remembers every effect."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from callboard.core.clock import SystemClock
from callboard.core.ids import IdMaker
from callboard.core.vocabulary import Effect, Question, StepState
from callboard.engine.embedded import EmbeddedDispatcher
from callboard.engine.engine import Engine
from callboard.engine.executor import Executor
from callboard.engine.ownership import Ownership
from callboard.engine.scope import Backstage, Happened, NotHappened
from callboard.store.connection import StoreError
from callboard.store.database import Database, Durability
from callboard.store.faults import NoFaults
from callboard.store.journal.questions import list_questions
from callboard.store.journal.steps import load_journal
from callboard.testing import Blackout, Moment
from stores import open_store


class World:
    """What stays when a process is gone: the database's folder and what its effects have done."""

    def __init__(self, folder: Path, program: list[Any]) -> None:
        self.folder = folder
        self.program = program
        self.executed: list[str] = []
        self.faults: Any = NoFaults()

    async def body(self, run: Any) -> Any:
        return await self._sequence(run, self.program)

    async def _sequence(self, run: Any, program: list[Any]) -> list[Any]:
        total: list[Any] = []
        for number, part in enumerate(program):
            if isinstance(part, tuple):
                branches = {
                    f"{number}.{index}": lambda branch, each=each: self._sequence(branch, [each])
                    for index, each in enumerate(part[1])
                }
                total.append(await run.parallel(branches))
            elif part == "ask":
                question = Question(f"what about {number}?")
                total.append(await run.ask_human(str(number), question))
            else:
                total.append(await self._step(run, str(number), part, total))
        return total

    async def _step(self, run: Any, key: str, kind: str, inputs: list[Any]) -> Any:
        path = run.key(key)

        async def act(_scope: Any) -> str:
            await asyncio.sleep(0)
            self._take_effect(path)
            await asyncio.sleep(0)
            return f"{kind} at {path}"

        async def probe(_before: Any) -> Any:
            return Happened(f"{kind} at {path}") if path in self.executed else NotHappened()

        async def confirm(_scope: Any, _value: Any) -> str:
            return f"{kind} at {path}"

        effect = Effect.ONCE if kind.startswith("once") else Effect(kind)
        return await run.step(
            key,
            act,
            inputs=inputs,
            effect=effect,
            probe=probe if kind == "once" else None,
            confirm=confirm if effect is Effect.ONCE else None,
        )

    def _take_effect(self, path: str) -> None:
        if getattr(self.faults, "is_dark", False):
            raise StoreError("the power was cut: nothing happens any more")
        self.executed.append(path)

    def truth(self, key: str) -> str:
        """Answer like a human who went and looked."""
        step, _, _ = key.partition("/unknown/")
        if step == key:
            return f"answer to {key}"
        return "happened" if step in self.executed else "did not happen"

    @asynccontextmanager
    async def open(self, faults: Any) -> AsyncIterator[tuple[Engine, Database]]:
        self.faults = faults
        clock = SystemClock()
        # What a power cut loses is not the point here, so the disk need not be waited for.
        database = open_store(
            self.folder / "callboard.db", durability=Durability.NORMAL, faults=faults
        )
        try:
            ids = IdMaker(clock)
            backstage = Backstage(database, ids, clock, lambda _name: self.body, faults=faults)
            ownership = Ownership(database, self.folder / "locks", ids, clock)
            engine = Engine(
                backstage, ownership, EmbeddedDispatcher(Executor(backstage, ownership))
            )
            await engine.start()
            try:
                yield engine, database
            finally:
                await engine.stop()
        finally:
            database.close()

    async def finish(self, engine: Engine, database: Database, run_id: str) -> Any:
        while True:
            run = await engine.wait(run_id, settled=True)
            if run.is_terminal:
                return run
            for asked in database.read(list_questions):
                await engine.answer(asked.id, self.truth(asked.key))
            await asyncio.sleep(0)

    async def create(self) -> str:
        async with self.open(NoFaults()) as (engine, database):
            await database.write(
                lambda c: (
                    c.execute(
                        "INSERT INTO sessions (id, position, name, state, context, created_at,"
                        " last_active_at) VALUES ('sess_test', 1, 'test', 'active', '{}', 1, 1)"
                    ).rowcount
                )
            )
            return (await engine.create("body", {}, "sess_test", dispatch=False)).id

    async def perform(self, losses: list[int]) -> tuple[Any, list[tuple[set[str], int]]]:
        """Run the program, losing the process after so many passages of any point, each time."""
        run_id = await self.create()
        seen: list[tuple[set[str], int]] = []
        for nth in [*losses, None]:
            faults = Blackout(Moment(None, nth)) if nth is not None else NoFaults()
            try:
                async with self.open(faults) as (engine, database):
                    await engine.recover()
                    run = await self.finish(engine, database, run_id)
                    return run, seen
            except StoreError:
                seen.append((await self._finished(run_id), len(self.executed)))
        raise AssertionError("the last attempt is not interrupted")

    async def _finished(self, run_id: str) -> set[str]:
        async with self.open(NoFaults()) as (engine, database):
            journal = database.read(lambda c: load_journal(c, engine.load(run_id)))
            return {key for key, step in journal.items() if step.state is StepState.DONE}
