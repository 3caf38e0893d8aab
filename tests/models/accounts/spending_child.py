"""A process that spends: 64 children share one budget until it is used up, or until it dies.

usage: spending_child.py FOLDER LIMIT_TOKENS KILL_AT; it dies at the KILL_AT-th call it serves, 0
for never. The provider keeps its own count in FOLDER/served, a line of tokens for each call.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from callboard.core.clock import SystemClock
from callboard.core.ids import IdMaker
from callboard.engine.ownership import Ownership
from callboard.models import (
    DirectGate,
    Ended,
    Message,
    ModelRequest,
    TextChunk,
    Usage,
)
from callboard.models.accounts import (
    Accounts,
    BudgetExceeded,
    BudgetGate,
    Limits,
    MeterGate,
    Prices,
    Scope,
)
from stores import open_store

CHILDREN = 64
MOST_SAID = 10


class CountingProvider:
    """Bills every request when it arrives, as the strictest provider would."""

    constrains_json = False

    def __init__(self, served: Path, kill_at: int) -> None:
        self._file = os.open(served, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._kill_at = kill_at
        self._served = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Any]:
        self._served += 1
        given = len(request.prompt_text.split())
        number, said = self._served, self._served % MOST_SAID + 1
        os.write(self._file, f"{given + said}\n".encode())
        await asyncio.sleep(0)
        if number == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        yield TextChunk("word " * said)
        yield Ended(request.model, Usage(given, said))

    async def close(self) -> None:
        os.close(self._file)


async def child(gate: BudgetGate, number: int) -> None:
    request = ModelRequest(
        "counting:m",
        (Message("user", "spend some more"),),
        max_tokens=MOST_SAID,
        session_id="sess_1",
        run_id="run_1",
        step_key=f"child/{number}",
        agent_id=f"child{number % 4}",
    )
    while True:
        try:
            await gate.complete(request)
        except BudgetExceeded:
            return


async def main(folder: Path, limit: int, kill_at: int) -> None:
    clock = SystemClock()
    database = open_store(folder / "callboard.db")
    ids = IdMaker(clock)
    ownership = Ownership(database, folder / "locks", ids, clock)
    await ownership.register()
    accounts = Accounts(
        database,
        ids,
        clock,
        count_tokens=lambda text: len(text.split()),
        prices=Prices(free_providers=frozenset({"counting"})),
        process_id=ownership.id,
        is_alive=ownership.is_alive,
    )
    await accounts.start()
    await accounts.set_limits(Scope.parse("run:run_1"), Limits(tokens=limit))
    provider = CountingProvider(folder / "served", kill_at)
    gate = BudgetGate(MeterGate(DirectGate({"counting": provider}), accounts), accounts)
    async with asyncio.TaskGroup() as group:
        for number in range(CHILDREN):
            group.create_task(child(gate, number))
    await gate.close()
    await ownership.leave()
    database.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
