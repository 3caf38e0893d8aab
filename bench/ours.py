"""Callboard as a contender: the real engine on a real database, full durability."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from bench.peers.contender import payload
from callboard.core.canonical import Json
from callboard.core.clock import SystemClock
from callboard.core.ids import IdMaker
from callboard.core.vocabulary import Effect, RunState
from callboard.engine.embedded import EmbeddedDispatcher
from callboard.engine.engine import Engine
from callboard.engine.executor import Executor
from callboard.engine.ownership import Ownership
from callboard.engine.run import Run
from callboard.engine.scope import Backstage, StepScope
from callboard.store.database import Database, Seal
from callboard.store.faults import NoFaults
from callboard.store.mirror import RunMirror
from callboard.store.sqlite.database import SqliteDatabase
from callboard.studio.mirrors import Mirrors
from callboard.studio.sessions import Sessions

NAME = f"Callboard {version('callboard')}"

Body = Callable[[Run], Awaitable[Json]]


@dataclass(slots=True)
class House:
    """An engine on one folder, wired as a studio wires it."""

    database: Database
    engine: Engine
    mirrors: Mirrors
    session_id: str

    @classmethod
    async def open(
        cls, folder: Path, body: Body, *, mirror: bool = False, is_sealed: bool = True
    ) -> "House":
        """Open the database and start the engine; every choreography is `body`."""
        seal = Seal(bytes(32), "bench", folder / "user" / "head") if is_sealed else None
        database = SqliteDatabase.open(folder / "callboard.db", seal=seal)
        clock = SystemClock()
        ids = IdMaker(clock)
        runs = RunMirror(database, folder / "runs", NoFaults())

        def copy(run_id: str, _session_id: str) -> None:
            runs.sync(run_id)

        mirrors = Mirrors(copy if mirror else None)
        backstage = Backstage(database, ids, clock, lambda _name: body, settled=mirrors.touch)
        ownership = Ownership(database, folder / "locks", ids, clock)
        engine = Engine(backstage, ownership, EmbeddedDispatcher(Executor(backstage, ownership)))
        await engine.start()
        session = await Sessions(database, engine, ids, clock).current()
        return cls(database, engine, mirrors, session.id)

    async def run(self, steps: int) -> None:
        """Execute one run to its end."""
        run = await self.engine.create("bench", {"steps": steps}, self.session_id)
        ended = await self.engine.wait(run.id)
        assert ended.state is RunState.DONE, ended.error

    async def close(self) -> None:
        """Stop the engine and write what is left."""
        await self.engine.stop()
        await self.mirrors.flush()
        self.database.close()


class Callboard:
    """Steps through the engine."""

    system = "Callboard"
    name = NAME
    # As users have it: every commit with an entry in the ledger.
    is_sealed = True
    # Nothing leaves the process before the end, which is on disk when the run is over.
    effect = Effect.PURE

    def __init__(self) -> None:
        self._house: House | None = None

    async def open(self, folder: Path) -> None:
        self._house = await House.open(folder, self._steps, is_sealed=self.is_sealed)

    async def _steps(self, run: Run) -> Json:
        for number in range(run.args["steps"]):
            await run.step(f"step/{number}", _act, inputs={"number": number}, effect=self.effect)
        return run.args["steps"]

    async def perform(self, runs: int, steps: int) -> None:
        assert self._house is not None
        await asyncio.gather(*(self._house.run(steps) for _ in range(runs)))

    async def close(self) -> None:
        assert self._house is not None
        await self._house.close()


class CallboardOnce(Callboard):
    """Steps with an outside effect: intent, act and result, each on disk before the next."""

    system = "Callboard once"
    name = f"{NAME}, once"
    effect = Effect.ONCE


async def _act(_scope: StepScope) -> Json:
    return payload()
