"""Every provider call leaves one row, however it ends, and the row says what it cost whom."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from callboard.core.errors import ProviderError
from callboard.core.events import CallMetered, PriceUnknown
from callboard.models import Failure, Line, Script, TextChunk, UnknownModel, Usage
from callboard.models.accounts import CallOutcome, MeterGate, list_calls
from callboard.store.journal.events import read_events

pytestmark = pytest.mark.anyio


def only_call(house: Any) -> Any:
    (call,) = house.database.read(list_calls)
    return call


@pytest.mark.req("LLM-63")
async def test_a_finished_call_is_on_record_with_all_it_is_attributed_to(
    house: Any, ask: Any
) -> None:
    gate = house.meter(Script(Line("a b", usage=Usage(100, 20, 40))))
    reply = await gate.complete(ask(prompt_id="prm_1", priority=80))
    call = only_call(house)
    who = call.spender
    assert (who.session_id, who.run_id, who.step_key) == ("sess_1", "run_1", "b/draft")
    assert (who.agent_id, who.pack, who.provider, who.model) == (
        "writer",
        "tales",
        "priced",
        "priced:m",
    )
    assert (who.priority, who.prompt_id, who.estimated_tokens) == (80, "prm_1", 3)
    assert call.usage == reply.usage == Usage(100, 20, 40)
    # 60 fresh at 1, 40 cached at a half, 20 out at 2.
    assert call.microusd == 60 + 20 + 40
    assert (call.outcome, call.requests, call.attempt, call.is_estimated) == (
        CallOutcome.OK,
        1,
        1,
        False,
    )
    assert call.at == house.clock.now_ms()
    assert call.latency_ms >= (call.first_token_ms or 0) >= 0


@pytest.mark.req("LLM-63")
async def test_a_call_its_reader_leaves_is_billed_for_what_had_arrived(
    house: Any, ask: Any
) -> None:
    gate = house.meter(Script(Line("word " * 50)))
    async with aclosing(gate.stream(ask())) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextChunk):
                break
    call = only_call(house)
    assert call.outcome is CallOutcome.ABORTED
    assert call.is_estimated
    assert call.usage.input_tokens == 3
    assert 0 < call.usage.output_tokens < 50
    assert call.microusd == 3 + 2 * call.usage.output_tokens


async def test_a_cancelled_call_is_on_record_and_the_cancel_goes_through(
    house: Any, ask: Any
) -> None:
    script = Script(Line("never", hold="door"))
    task = asyncio.create_task(house.meter(script).complete(ask()))
    await script.reached("door")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    call = only_call(house)
    assert (call.outcome, call.usage) == (CallOutcome.ABORTED, Usage(3, 0))


async def test_a_preempted_call_says_so(house: Any, ask: Any) -> None:
    script = Script(Line("never", hold="door"))
    request = ask()
    task = asyncio.create_task(house.meter(script).complete(request))
    await script.reached("door")
    request.ending.reason = "preempted"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert only_call(house).outcome is CallOutcome.PREEMPTED


@pytest.mark.parametrize(
    ("line", "code", "tokens", "requests"),
    [
        (Line(fail=Failure(500)), "provider_error", Usage(), 1),
        (Line("six words " * 6, drop_after=20), "provider_error", Usage(3, 4), 1),
    ],
)
async def test_a_failed_call_costs_what_had_arrived_and_nothing_if_it_was_refused(
    house: Any, ask: Any, line: Line, code: str, tokens: Usage, requests: int
) -> None:
    with pytest.raises(ProviderError):
        await house.meter(Script(line)).complete(ask())
    call = only_call(house)
    assert (call.outcome, call.error_code, call.requests) == (CallOutcome.ERROR, code, requests)
    assert call.usage == tokens


async def test_what_never_reached_a_provider_is_no_request(house: Any, ask: Any) -> None:
    with pytest.raises(UnknownModel):
        await house.meter(Script()).complete(ask(model="nobody"))
    call = only_call(house)
    assert (call.error_code, call.requests, call.usage) == ("unknown_model", 0, Usage())


async def test_attempts_for_one_prompt_are_counted_and_a_switch_names_the_first_model(
    house: Any, ask: Any
) -> None:
    script = Script(Line(fail=Failure(500), times=2), "fine")
    gate = house.meter(script)
    for model in ("priced:m", "priced:m", "other:n"):
        try:
            await gate.complete(ask(model=model, prompt_id="prm_7"))
        except ProviderError:
            continue
    calls = house.database.read(list_calls)
    assert [(call.attempt, call.switched_from) for call in calls] == [
        (1, None),
        (2, None),
        (3, "priced:m"),
    ]


async def test_a_provider_that_tells_no_tokens_is_counted_here(house: Any, ask: Any) -> None:
    await house.meter(Script(Line("four words of reply", usage=Usage()))).complete(ask())
    call = only_call(house)
    assert (call.usage, call.is_estimated) == (Usage(3, 4), True)


async def test_totals_grow_in_the_event_stream_of_the_run(house: Any, ask: Any) -> None:
    gate = house.meter(Script(Line(usage=Usage(10, 5), times=None)))
    await gate.complete(ask())
    await gate.complete(ask(agent_id="critic"))
    await gate.complete(ask(run_id="run_2"))
    events = house.database.read(lambda c: read_events(c, run_id="run_1"))
    bodies = [event.body for event in events]
    assert all(isinstance(body, CallMetered) for body in bodies)
    assert [(b.agent_id, b.cost_usd, b.total_calls, b.total_cost_usd) for b in bodies] == [
        ("writer", 0.00002, 1, 0.00002),
        ("critic", 0.00002, 2, 0.00004),
    ]
    assert {event.step_key for event in events} == {"b/draft"}


async def test_an_unknown_price_is_null_and_told_once(house: Any, ask: Any) -> None:
    gate = house.meter(Script(Line("hi", times=None)))
    for _ in range(3):
        await gate.complete(ask(model="other:mystery"))
    assert [row["microusd"] for row in house.rows("SELECT microusd FROM calls")] == [None] * 3
    (told,) = house.told
    assert isinstance(told, PriceUnknown)
    assert told.model == "other:mystery"
    assert "input_usd" in told.text


async def test_the_scripted_model_costs_nothing(house: Any, ask: Any) -> None:
    await house.meter(Script("hi")).complete(ask(model="script"))
    assert only_call(house).microusd == 0


@pytest.mark.req("LLM-64")
async def test_sums_of_the_ledger_equal_what_the_provider_counted(house: Any, ask: Any) -> None:
    served: list[Usage] = []

    def answer(request: Any) -> Line:
        number = int(request.metadata["n"])
        usage = Usage(number % 7 + 1, number % 5 + 1, number % 2)
        served.append(usage)
        return Line("word " * (number % 9), usage=usage)

    gate: MeterGate = house.meter(Script(answer))
    await asyncio.gather(
        *(
            gate.complete(
                ask(
                    session_id=f"sess_{n % 3}",
                    run_id=f"run_{n % 10}",
                    agent_id=f"agent_{n % 4}",
                    metadata={"n": n},
                )
            )
            for n in range(200)
        )
    )
    (row,) = house.rows(
        "SELECT COUNT(*) AS calls, SUM(input_tokens) AS given, SUM(output_tokens) AS said,"
        " SUM(cached_tokens) AS cached FROM calls"
    )
    assert row == {
        "calls": 200,
        "given": sum(u.input_tokens for u in served),
        "said": sum(u.output_tokens for u in served),
        "cached": sum(u.cached_tokens for u in served),
    }
    kept = {row["scope"]: row for row in house.rows("SELECT * FROM budgets")}
    tokens = sum(u.input_tokens + u.output_tokens for u in served)
    for kind in ("project", "session", "run", "agent", "provider"):
        rows = [kept[name] for name in kept if name.partition(":")[0] == kind]
        assert sum(row["spent_tokens"] for row in rows) == tokens
        assert sum(row["spent_calls"] for row in rows) == 200
