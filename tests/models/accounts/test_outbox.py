"""The ledger keeps nobody waiting for the disk, and still loses no call."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.models import DirectGate, Script
from callboard.models.accounts import BudgetGate, Limits, MeterGate, Scope, list_calls
from callboard.models.accounts.booking import MOST_UNDER_WAY
from callboard.store.connection import DiskFull
from callboard.store.database import Database
from stores import open_store

pytestmark = pytest.mark.anyio

NOTE = "INSERT INTO budgets (scope, spent_microusd, spent_tokens, spent_calls, spent_ms)"


class Disk:
    """Counts commits; lets nothing be committed while it is full."""

    def __init__(self) -> None:
        self.is_full = False
        self.commits = 0

    def reach(self, point: str) -> None:
        if point == "store.after_commit":
            self.commits += 1
        elif point == "store.before_commit" and self.is_full:
            raise DiskFull("No room is left for the database.")


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def database(tmp_path: Path, disk: Disk) -> Iterator[Database]:
    opened = open_store(tmp_path / "callboard.db", faults=disk)
    yield opened
    opened.close()


@pytest.fixture
def gate_of(house: Any) -> Callable[[Script], BudgetGate]:
    def make(script: Script) -> BudgetGate:
        metered = MeterGate(DirectGate({"priced": script}), house.accounts)
        return BudgetGate(metered, house.accounts)

    return make


def note(connection: Any) -> None:
    connection.execute(f"{NOTE} VALUES ('note', 0, 0, 0, 0)")


@pytest.mark.req("LLM-63")
async def test_what_is_stored_of_a_reply_shares_its_commit_with_the_call(
    house: Any, ask: Any, gate_of: Any, disk: Disk
) -> None:
    """Order is what lets the caller go on: the row can be lost only with all that came of it."""
    await gate_of(Script("hello there")).complete(ask())
    assert disk.commits == 0
    await house.database.write(note)
    assert disk.commits == 1
    assert len(house.database.read(list_calls)) == 1


async def test_a_budget_takes_one_durable_write_before_the_call_and_none_that_is_waited_for(
    house: Any, ask: Any, gate_of: Any, disk: Disk
) -> None:
    await house.accounts.set_limits(Scope.parse("run:run_1"), Limits(tokens=1000))
    disk.commits = 0
    await gate_of(Script("hello there")).complete(ask())
    assert disk.commits == 1
    assert len(house.rows("SELECT * FROM reservations")) == 1
    await house.accounts.flush()
    assert disk.commits == 2
    assert house.rows("SELECT * FROM reservations") == []
    assert len(house.database.read(list_calls)) == 1


async def test_while_a_call_cannot_be_put_on_record_no_other_is_made(
    house: Any, ask: Any, gate_of: Any, disk: Disk
) -> None:
    script = Script("first", "second")
    gate = gate_of(script)
    disk.is_full = True
    assert (await gate.complete(ask())).text == "first"
    with pytest.raises(DiskFull):
        await house.accounts.flush()
    with pytest.raises(DiskFull):
        await gate.complete(ask())
    assert len(script.calls) == 1
    disk.is_full = False
    assert (await gate.complete(ask())).text == "second"
    await house.accounts.flush()
    assert [call.usage.output_tokens for call in house.database.read(list_calls)] == [1, 1]
    (project,) = house.rows("SELECT * FROM budgets WHERE scope = 'project'")
    assert project["spent_calls"] == 2


async def test_a_disk_that_falls_behind_holds_new_calls_up_so_that_no_memory_is_filled(
    house: Any, ask: Any, gate_of: Any
) -> None:
    made = MOST_UNDER_WAY * 2 + 7
    gate = gate_of(Script(*["hello"] * made))
    most = 0
    for number in range(1, made + 1):
        await gate.complete(ask())
        stored = house.rows("SELECT COUNT(*) AS n FROM calls")[0]["n"]
        most = max(most, number - stored)
    assert most <= MOST_UNDER_WAY
    await house.accounts.flush()
    assert len(house.database.read(list_calls)) == made


async def test_closing_the_gate_has_every_call_on_record(
    house: Any, ask: Any, gate_of: Any
) -> None:
    gate = gate_of(Script(*["hello"] * 20))
    await asyncio.gather(*(gate.complete(ask()) for _ in range(20)))
    await gate.close()
    assert len(house.database.read(list_calls)) == 20
    await house.accounts.flush()


async def test_a_gate_whose_ledger_cannot_be_written_says_so_when_it_is_closed(
    house: Any, ask: Any, gate_of: Any, disk: Disk
) -> None:
    gate = gate_of(Script("hello"))
    disk.is_full = True
    await gate.complete(ask())
    with pytest.raises(DiskFull):
        await gate.close()
    disk.is_full = False
    await house.accounts.flush()
    assert len(house.database.read(list_calls)) == 1
