"""Runs on a server that ends its connections: an effect takes place once, and its run goes on."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callboard.core.vocabulary import Effect, RunState, StepState
from stores import address_of

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("store", ["postgres"], indirect=True),
]


@pytest.fixture
def cut_off(tmp_path: Path) -> Callable[[], None]:
    """Return what ends every connection of the project, as a server that is restarted does."""

    def cut() -> None:
        address = address_of(tmp_path / "callboard.db")
        with address.connect() as raw:
            raw.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND application_name = %s",
                (address.schema,),
            )

    return cut


async def test_a_connection_dropped_between_intent_and_result_loses_and_doubles_nothing(
    open_theatre: Any, cut_off: Callable[[], None]
) -> None:
    acted: list[str] = []

    async def body(run: Any) -> str:
        async def pay(_scope: Any) -> str:
            acted.append("paid")
            cut_off()
            return "paid"

        async def count(_scope: Any) -> int:
            cut_off()
            return len(acted)

        paid = await run.step("pay", pay, effect=Effect.ONCE)
        return f"{paid} {await run.step('count', count)}"

    async with open_theatre({"body": body}) as theatre:
        run = await theatre.run("body")
        journal = theatre.journal(run.id)

    assert (run.state, run.result, acted) == (RunState.DONE, "paid 1", ["paid"])
    assert {step.state for step in journal.values()} == {StepState.DONE}


async def test_a_process_that_lost_its_lock_holds_it_again(
    open_theatre: Any, cut_off: Callable[[], None]
) -> None:
    async with open_theatre({}) as theatre, open_theatre({}) as other:
        owner = theatre.engine._ownership.id
        seen = other.engine._ownership

        def is_alive() -> bool:
            return other.database.read(lambda connection: seen.is_alive(connection, owner))

        assert is_alive()
        cut_off()
        deadline = time.monotonic() + 60
        while not is_alive():
            assert time.monotonic() < deadline
