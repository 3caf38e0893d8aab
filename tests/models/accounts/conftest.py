"""Accounts on a real database, with a scripted model, a clock that is set, and known prices."""

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from callboard.core.clock import SystemClock
from callboard.core.events import EventBody
from callboard.core.ids import IdMaker
from callboard.models import (
    Catalog,
    Chunk,
    DirectGate,
    Finished,
    Gate,
    Message,
    ModelRequest,
    Script,
    WrapperGate,
)
from callboard.models.accounts import Accounts, BudgetGate, MeterGate, Prices
from callboard.store.database import Database
from stores import open_store


class SetClock:
    """Wall time stands where the test puts it; the monotonic clock runs on."""

    def __init__(self, now_ms: int = 1_760_000_000_000) -> None:
        self.ms = now_ms
        self._real = SystemClock()

    def now_ms(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self._real.monotonic()


def count_words(text: str) -> int:
    return len(text.split())


CATALOG = Catalog(
    {
        # A dollar is a million micro-dollars: one token in costs 1, one token out 2.
        "priced:m": {"input_usd": 1.0, "output_usd": 2.0, "cached_usd": 0.5},
        "script": {},
    }
)


class OnRecord(WrapperGate):
    """Lets its reader go on only when the ledger is on disk, so that a test can look at once."""

    def __init__(self, inner: Gate, accounts: Accounts) -> None:
        super().__init__(inner)
        self._accounts = accounts

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        try:
            async with aclosing(self.inner.stream(request)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Finished):
                        await self._accounts.flush()
                    yield chunk
        finally:
            await self._accounts.flush()


@dataclass
class House:
    """One process's accounts and what it told."""

    database: Database
    clock: SetClock
    accounts: Accounts
    told: list[EventBody] = field(default_factory=list)

    def gate(self, script: Script) -> OnRecord:
        direct = DirectGate({"script": script, "priced": script, "other": script})
        metered = MeterGate(direct, self.accounts)
        return self.on_record(BudgetGate(metered, self.accounts))

    def meter(self, script: Script) -> OnRecord:
        direct = DirectGate({"script": script, "priced": script, "other": script})
        return self.on_record(MeterGate(direct, self.accounts))

    def on_record(self, gate: Gate) -> OnRecord:
        return OnRecord(gate, self.accounts)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return self.database.read(lambda c: [dict(row) for row in c.execute(sql)])


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_store(tmp_path / "callboard.db")
    yield opened
    opened.close()


@pytest.fixture
def open_house(database: Database, clock: SetClock) -> Callable[..., House]:
    def open_it(**options: Any) -> House:
        told: list[EventBody] = []
        accounts = Accounts(
            database,
            IdMaker(clock),
            clock,
            prices=Prices(CATALOG),
            notify=lambda body, _request: told.append(body),
            **{"process_id": "proc_here", "count_tokens": count_words, **options},
        )
        return House(database, clock, accounts, told)

    return open_it


@pytest.fixture
def house(open_house: Callable[..., House]) -> House:
    return open_house()


def request_for(
    text: str = "one two three", *, model: str = "priced:m", max_tokens: int = 10, **more: Any
) -> ModelRequest:
    given: dict[str, Any] = {
        "session_id": "sess_1",
        "run_id": "run_1",
        "step_key": "b/draft",
        "agent_id": "writer",
        "metadata": {"prompt_type": "draft", "pack": "tales"},
        **more,
    }
    return ModelRequest(model, (Message("user", text),), max_tokens=max_tokens, **given)


@pytest.fixture
def ask() -> Callable[..., ModelRequest]:
    return request_for


@pytest.fixture(autouse=True)
def on_both_stores(store: str) -> None:
    """Run every test of this folder on a file and on a server."""
