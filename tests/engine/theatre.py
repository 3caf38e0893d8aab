"""One process on a project: an engine and the database under it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from callboard.core.clock import SystemClock
from callboard.core.ids import IdMaker
from callboard.engine.embedded import EmbeddedDispatcher
from callboard.engine.engine import Engine
from callboard.engine.executor import Executor
from callboard.engine.ownership import Ownership
from callboard.engine.run import Run
from callboard.engine.scope import Backstage
from callboard.store.database import Database
from callboard.store.journal.steps import load_journal
from stores import open_store

Body = Callable[[Run], Awaitable[Any]]

DISPATCHERS = {"embedded": EmbeddedDispatcher}


class Theatre:
    """One process's view of a project: an engine and the database under it."""

    def __init__(self, engine: Engine, database: Database, session_id: str) -> None:
        self.engine = engine
        self.database = database
        self.session_id = session_id

    async def run(self, name: str, **args: Any) -> Any:
        run = await self.engine.create(name, args, self.session_id)
        return await self.engine.wait(run.id)

    async def start(self, name: str, **args: Any) -> str:
        run = await self.engine.create(name, args, self.session_id)
        return run.id

    def journal(self, run_id: str) -> dict[str, Any]:
        return self.database.read(lambda c: load_journal(c, self.engine.load(run_id)))


@asynccontextmanager
async def open_in(
    folder: Path, bodies: dict[str, Body], dispatcher: str = "embedded", **changes: Any
) -> AsyncIterator[Theatre]:
    """Open the project in a folder, as often as wanted and by as many processes."""
    async with AsyncExitStack() as stack:
        clock = changes.get("clock") or SystemClock()
        more = {"faults": changes["faults"]} if "faults" in changes else {}
        database = open_store(folder / "callboard.db", **more)
        stack.callback(database.close)
        ids = IdMaker(clock)
        backstage = Backstage(database, ids, clock, lambda name: bodies[name], **more)
        ownership = Ownership(database, folder / "locks", ids, clock)
        engine = Engine(
            backstage, ownership, DISPATCHERS[dispatcher](Executor(backstage, ownership))
        )
        await database.write(
            lambda c: (
                c.execute(
                    "INSERT INTO sessions (id, position, name, state, context, created_at,"
                    " last_active_at) VALUES ('sess_test', 1, 'test', 'active', '{}', 1, 1)"
                    " ON CONFLICT DO NOTHING"
                ).rowcount
            )
        )
        await engine.start()
        stack.push_async_callback(engine.stop)
        yield Theatre(engine, database, "sess_test")
