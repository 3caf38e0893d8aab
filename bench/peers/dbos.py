"""DBOS on SQLite: a workflow of steps, each recorded before the next.

DBOS leaves SQLite on a rollback journal, which is slower; its file is put into WAL mode before it
is opened, with `synchronous` at SQLite's own default, FULL.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dbos import DBOS

from bench.peers.contender import payload

SYSTEM = "DBOS"
VERSION = f"DBOS {version('dbos')}"


class DbosThreads:
    """Plain functions; runs at once are DBOS's own threads."""

    system = SYSTEM
    name = f"{VERSION}, SQLite in WAL mode, threads"

    def __init__(self) -> None:
        self._workflow: Callable[[int], int] | None = None

    async def open(self, folder: Path) -> None:
        _configure(folder)

        @DBOS.step()
        def act(_number: int) -> dict[str, str]:
            return payload()

        @DBOS.workflow()
        def workflow(steps: int) -> int:
            for number in range(steps):
                act(number)
            return steps

        self._workflow = workflow
        await asyncio.to_thread(DBOS.launch)

    async def perform(self, runs: int, steps: int) -> None:
        workflow = self._workflow
        assert workflow is not None

        def at_once() -> None:
            handles = [DBOS.start_workflow(workflow, steps) for _ in range(runs)]
            assert all(handle.get_result() == steps for handle in handles)

        if runs == 1:
            assert await asyncio.to_thread(workflow, steps) == steps
        else:
            await asyncio.to_thread(at_once)

    async def close(self) -> None:
        await asyncio.to_thread(_destroy)


class DbosAsync:
    """Coroutines; runs at once are tasks."""

    system = SYSTEM
    name = f"{VERSION}, SQLite in WAL mode, asyncio"

    def __init__(self) -> None:
        self._workflow: Callable[[int], Awaitable[int]] | None = None

    async def open(self, folder: Path) -> None:
        _configure(folder)

        @DBOS.step()
        async def act(_number: int) -> dict[str, str]:
            return payload()

        @DBOS.workflow()
        async def workflow(steps: int) -> int:
            for number in range(steps):
                await act(number)
            return steps

        self._workflow = workflow
        await asyncio.to_thread(DBOS.launch)

    async def perform(self, runs: int, steps: int) -> None:
        assert self._workflow is not None
        done: list[Any] = await asyncio.gather(*(self._workflow(steps) for _ in range(runs)))
        assert done == [steps] * runs

    async def close(self) -> None:
        await asyncio.to_thread(_destroy)


def _configure(folder: Path) -> None:
    path = folder / "dbos.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    DBOS(
        config={
            "name": "bench",
            "system_database_url": f"sqlite:///{path}",
            "log_level": "ERROR",
        }
    )


def _destroy() -> None:
    DBOS.destroy(destroy_registry=True)
