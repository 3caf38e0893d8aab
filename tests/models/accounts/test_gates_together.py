"""The accounts within the chain of gates: retries, preemption and budgets are booked rightly."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, cast

import pytest

from callboard.core.settings.sections import QueueSettings
from callboard.models import CircuitOpen, Failure, Gate, Line, Script, Usage
from callboard.models.accounts import (
    BudgetExceeded,
    BudgetGate,
    CallOutcome,
    Limits,
    MeterGate,
    Scope,
    list_calls,
    load_budgets,
)
from callboard.models.gate import DirectGate, WrapperGate
from callboard.models.traffic.queue import QueueGate
from callboard.models.traffic.retry import RetryGate
from callboard.models.types import Chunk, ModelRequest

pytestmark = pytest.mark.anyio

RUN = Scope.parse("run:run_1")


async def no_wait(_seconds: float) -> None:
    await asyncio.sleep(0)


def chain(house: Any, script: Script, **limits: Any) -> Gate:
    direct = DirectGate({"priced": script})
    paid = BudgetGate(MeterGate(direct, house.accounts), house.accounts)
    queue = QueueGate(RetryGate(paid, sleep=no_wait), QueueSettings(**limits))
    return cast("Gate", house.on_record(queue))


async def test_every_attempt_is_on_record_and_the_budget_pays_for_all(house: Any, ask: Any) -> None:
    await house.accounts.set_limits(RUN, Limits(tokens=1000, calls=10))
    script = Script(
        Line(fail=Failure(503)), Line("half a reply", drop_after=6), Line(usage=Usage(3, 2))
    )
    await chain(house, script).complete(ask(prompt_id="prm_1"))
    calls = house.database.read(list_calls)
    assert [(call.attempt, call.outcome, call.usage) for call in calls] == [
        (1, CallOutcome.ERROR, Usage()),
        (2, CallOutcome.ERROR, Usage(3, 2)),
        (3, CallOutcome.OK, Usage(3, 2)),
    ]
    (budget,) = house.database.read(lambda c: load_budgets(c, [RUN]))
    assert (budget.spent.calls, budget.spent.tokens) == (3, 10)
    assert house.rows("SELECT * FROM reservations") == []


@pytest.mark.parametrize("limits", [Limits(calls=1), Limits(tokens=15)])
async def test_an_attempt_the_budget_cannot_pay_for_is_not_made(
    house: Any, ask: Any, limits: Limits
) -> None:
    await house.accounts.set_limits(RUN, limits)
    script = Script(Line("half a reply", drop_after=6, times=2), Line(usage=Usage(3, 2)))
    with pytest.raises(BudgetExceeded):
        await chain(house, script).complete(ask(prompt_id="prm_1", max_tokens=10))
    assert len(script.calls) == 1
    (budget,) = house.database.read(lambda c: load_budgets(c, [RUN]))
    assert budget.spent.calls == 1
    assert house.rows("SELECT * FROM reservations") == []


async def test_a_call_that_makes_room_for_the_user_is_booked_as_preempted_and_made_again(
    house: Any, ask: Any
) -> None:
    await house.accounts.set_limits(RUN, Limits(tokens=1000))
    script = Script(
        Line("background", agent="indexer", hold="door"),
        Line("for the user", agent="guide", usage=Usage(3, 3)),
        Line("background", agent="indexer", usage=Usage(3, 1)),
    )
    gate = chain(house, script, global_limit=1)
    slow = asyncio.create_task(gate.complete(ask(agent_id="indexer", priority=20)))
    await script.reached("door")
    assert (await gate.complete(ask(agent_id="guide", priority=100))).text == "for the user"
    assert (await slow).text == "background"
    calls = house.database.read(list_calls)
    assert [(call.spender.agent_id, call.outcome) for call in calls] == [
        ("indexer", CallOutcome.PREEMPTED),
        ("guide", CallOutcome.OK),
        ("indexer", CallOutcome.OK),
    ]
    assert calls[0].usage == Usage(3, 0)
    (budget,) = house.database.read(lambda c: load_budgets(c, [RUN]))
    assert budget.spent.tokens == 3 + 6 + 4
    assert house.rows("SELECT * FROM reservations") == []


class _Leave(WrapperGate):
    """A circuit that is open."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        raise CircuitOpen("left alone")
        yield  # pragma: no cover - what makes it a generator


async def test_a_call_that_a_circuit_keeps_from_its_provider_spends_nothing(
    house: Any, ask: Any
) -> None:
    await house.accounts.set_limits(RUN, Limits(tokens=1000, calls=1))
    guarded = _Leave(MeterGate(DirectGate({"priced": Script("hello")}), house.accounts))
    gate = BudgetGate(guarded, house.accounts)
    for _ in range(3):
        with pytest.raises(CircuitOpen):
            await gate.complete(ask())
    (budget,) = house.database.read(lambda c: load_budgets(c, [RUN]))
    assert (budget.spent.calls, budget.spent.tokens) == (0, 0)
    assert house.rows("SELECT * FROM reservations") == []
