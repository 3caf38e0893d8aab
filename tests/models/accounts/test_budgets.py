"""Budgets hold however many call at once, and say clearly why they say no."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from callboard.core.errors import ErrorTier, InvalidInput, ProviderError
from callboard.models import (
    DirectGate,
    Failure,
    Finished,
    Line,
    Restarted,
    Script,
    TextChunk,
    Usage,
    Working,
    WrapperGate,
)
from callboard.models.accounts import (
    Amounts,
    BudgetExceeded,
    BudgetGate,
    CallOutcome,
    Limits,
    Scope,
    list_budgets,
    list_calls,
    load_budgets,
)

pytestmark = pytest.mark.anyio

PROJECT = Scope.parse("project")
SESSION = Scope.parse("session:sess_1")
RUN = Scope.parse("run:run_1")
PROVIDER = Scope.parse("provider:priced")


def spent(house: Any, scope: Scope) -> Any:
    (budget,) = house.database.read(lambda c: load_budgets(c, [scope]))
    return budget.spent


def reserved(house: Any) -> int:
    (row,) = house.rows("SELECT COUNT(*) AS open FROM reservations")
    return row["open"]


@pytest.mark.req("LLM-60", "LLM-61", "ERR-121")
@pytest.mark.parametrize(
    ("limited", "named"),
    [
        ([PROJECT, SESSION, RUN, PROVIDER], "project"),
        ([SESSION, RUN, PROVIDER], "session:sess_1"),
        ([RUN, PROVIDER], "run:run_1"),
        ([PROVIDER], "provider:priced"),
        ([Scope.parse("agent:writer"), PROVIDER], "agent:writer"),
        ([Scope.parse("step:run_1/b"), Scope.parse("step:run_1/b/draft")], "step:run_1/b"),
    ],
)
async def test_the_outermost_budget_that_is_too_small_refuses_with_its_name_and_figures(
    house: Any, ask: Any, limited: list[Scope], named: str
) -> None:
    for scope in limited:
        await house.accounts.set_limits(scope, Limits(tokens=12))
    script = Script("never asked")
    with pytest.raises(BudgetExceeded) as refused:
        await house.gate(script).complete(ask())
    error = refused.value
    assert (error.code, error.tier) == ("budget_exceeded", ErrorTier.USER_FIXABLE)
    # Three words in, ten tokens of reply allowed: 13 do not fit into 12.
    figures = {"scope": named, "dimension": "tokens", "limit": 12, "spent": 0, "wanted": 13}
    assert error.context.items() >= figures.items()
    assert f"callboard budget set {named} --tokens" in (error.fix or "")
    assert script.calls == []


@pytest.mark.req("LLM-61")
async def test_what_was_spent_counts_and_a_call_that_just_fits_is_made(
    house: Any, ask: Any
) -> None:
    await house.accounts.set_limits(RUN, Limits(tokens=20))
    gate = house.gate(Script(Line("ok", usage=Usage(3, 4), times=None)))
    await gate.complete(ask())
    await gate.complete(ask())
    assert spent(house, RUN).tokens == 14
    with pytest.raises(BudgetExceeded) as refused:
        await gate.complete(ask())
    assert refused.value.context["spent"] == 14
    assert spent(house, SESSION).tokens == 14
    assert reserved(house) == 0


@pytest.mark.req("LLM-62")
@pytest.mark.parametrize("limit", [None, 0, -1])
async def test_no_limit_and_limits_of_nothing_or_less_limit_nothing(
    house: Any, ask: Any, limit: int | None
) -> None:
    await house.accounts.set_limits(RUN, Limits(limit, limit, limit, limit))
    reply = await house.gate(Script("fine")).complete(ask())
    assert reply.text == "fine"


@pytest.mark.parametrize(
    ("limits", "dimension"),
    [
        (Limits.make(usd=0.00003), "money"),
        (Limits(tokens=20), "tokens"),
        (Limits(calls=1), "calls"),
    ],
)
async def test_money_tokens_and_calls_are_limited_alike(
    house: Any, ask: Any, limits: Limits, dimension: str
) -> None:
    await house.accounts.set_limits(SESSION, limits)
    gate = house.gate(Script(Line("ok", usage=Usage(5, 5), times=None)))
    await gate.complete(ask())
    with pytest.raises(BudgetExceeded) as refused:
        await gate.complete(ask())
    assert refused.value.context["dimension"] == dimension
    assert "needed for this call" in refused.value.message


@pytest.mark.req("LLM-61")
async def test_a_call_waits_for_what_others_hold_and_is_not_refused(house: Any, ask: Any) -> None:
    await house.accounts.set_limits(RUN, Limits(tokens=20))
    script = Script(Line("first", hold="door", usage=Usage(3, 2)), Line("second"))
    gate = house.gate(script)
    first = asyncio.create_task(gate.complete(ask()))
    await script.reached("door")
    async with aclosing(gate.stream(ask())) as chunks:
        waiting = await anext(chunks)
        assert isinstance(waiting, Working)
        assert "run:run_1" in waiting.note
        script.release("door")
        rest = [chunk async for chunk in chunks]
    assert (await first).text == "first"
    assert isinstance(rest[-1], Finished)
    assert reserved(house) == 0


async def test_a_failed_call_gives_back_what_was_held_for_it(house: Any, ask: Any) -> None:
    await house.accounts.set_limits(RUN, Limits(tokens=13, calls=2))
    gate = house.gate(Script(Line(fail=Failure(500)), "ok"))
    with pytest.raises(ProviderError):
        await gate.complete(ask())
    assert (reserved(house), spent(house, RUN).tokens) == (0, 0)
    assert (await gate.complete(ask())).text == "ok"


async def test_a_call_its_reader_leaves_is_settled(house: Any, ask: Any) -> None:
    await house.accounts.set_limits(RUN, Limits(tokens=500))
    gate = house.gate(Script(Line("word " * 60)))
    async with aclosing(gate.stream(ask(max_tokens=100))) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextChunk):
                break
    (call,) = house.database.read(list_calls)
    assert call.outcome is CallOutcome.ABORTED
    assert reserved(house) == 0
    assert spent(house, RUN).tokens == call.usage.input_tokens + call.usage.output_tokens > 3


async def test_the_gate_settles_by_itself_when_nobody_meters(house: Any, ask: Any) -> None:
    await house.accounts.set_limits(RUN, Limits(tokens=40))
    script = Script(Line("a b c", usage=Usage(7, 3)), Line("d e f", usage=Usage()))
    gate = BudgetGate(DirectGate({"priced": script}), house.accounts)
    await gate.complete(ask())
    assert (spent(house, RUN).tokens, spent(house, RUN).microusd) == (10, 13)
    await gate.complete(ask())
    assert spent(house, RUN).tokens == 16
    assert reserved(house) == 0


async def test_a_reply_that_outgrows_its_reservation_asks_for_more(house: Any, ask: Any) -> None:
    await house.accounts.set_limits(RUN, Limits(tokens=10_000))
    said = "word " * 3_000
    reply = await house.gate(Script(Line(said))).complete(ask(max_tokens=None))
    assert reply.text == said
    assert spent(house, RUN).tokens == 3_003
    assert reserved(house) == 0


@pytest.mark.req("LLM-34")
async def test_a_reply_that_outgrows_its_budget_is_cut_off_and_kept(house: Any, ask: Any) -> None:
    limit = 2_000
    await house.accounts.set_limits(RUN, Limits(tokens=limit))
    seen: list[str] = []
    with pytest.raises(BudgetExceeded) as refused:
        async with aclosing(
            house.gate(Script(Line("word " * 5_000))).stream(ask(max_tokens=None))
        ) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextChunk):
                    seen.append(chunk.text)
    (call,) = house.database.read(list_calls)
    assert call.outcome is CallOutcome.CUT
    partial = refused.value.partial or ""
    assert partial.startswith("".join(seen))
    assert 1_000 < len(partial.split()) <= limit
    assert spent(house, RUN).tokens <= limit
    assert reserved(house) == 0


async def test_time_is_limited_and_a_call_that_takes_too_much_is_cut(house: Any, ask: Any) -> None:
    await house.accounts.set_limits(RUN, Limits(ms=60))
    script = Script(Line("half", hold="door"))
    with pytest.raises(BudgetExceeded) as refused:
        await house.gate(script).complete(ask())
    assert refused.value.context["dimension"] == "time"
    (call,) = house.database.read(list_calls)
    assert call.outcome is CallOutcome.CUT
    assert spent(house, RUN).ms >= 55
    with pytest.raises(BudgetExceeded):
        await house.gate(Script("no time left")).complete(ask())


async def test_an_answer_that_starts_again_is_reserved_for_again(house: Any, ask: Any) -> None:
    class Stutter(WrapperGate):
        async def stream(self, request: Any) -> Any:
            yield TextChunk("one two")
            yield Restarted("it was cut off")
            async with aclosing(self.inner.stream(request)) as chunks:
                async for chunk in chunks:
                    yield chunk

    script = Script(Line("fine", times=None))
    stutter = Stutter(DirectGate({"priced": script}))
    gate = BudgetGate(stutter, house.accounts)
    await house.accounts.set_limits(RUN, Limits(tokens=13))
    with pytest.raises(BudgetExceeded):
        await gate.complete(ask())
    assert script.calls == []
    await house.accounts.set_limits(RUN, Limits(tokens=100))
    assert (await gate.complete(ask())).text == "fine"


async def test_a_money_budget_cannot_hold_what_has_no_price_but_says_so(
    house: Any, ask: Any
) -> None:
    await house.accounts.set_limits(RUN, Limits(microusd=1))
    await house.gate(Script("hi")).complete(ask(model="other:mystery"))
    assert [body.type for body in house.told] == ["price.unknown"]


async def test_defaults_hold_until_somebody_sets_a_limit(open_house: Any, ask: Any) -> None:
    def default(scope: Scope) -> Limits:
        return Limits(tokens=5) if scope.kind.value == "run" else Limits()

    house = open_house(default_limits=default)
    gate = house.gate(Script(Line("ok", times=None)))
    with pytest.raises(BudgetExceeded):
        await gate.complete(ask())
    await house.accounts.set_limits(RUN, Limits(tokens=-1))
    await gate.complete(ask())
    with pytest.raises(BudgetExceeded):
        await gate.complete(ask(run_id="run_2"))
    assert await house.accounts.clear_limits(RUN)
    with pytest.raises(BudgetExceeded):
        await gate.complete(ask())
    assert not await house.accounts.clear_limits(RUN)


async def test_a_limit_set_late_counts_what_was_spent_before(house: Any, ask: Any) -> None:
    gate = house.gate(Script(Line("ok", usage=Usage(6, 4), times=None)))
    await gate.complete(ask())
    await gate.complete(ask(step_key="b/polish"))
    await gate.complete(ask(step_key="bb/other"))
    step = await house.accounts.set_limits(Scope.parse("step:run_1/b"), Limits(tokens=33))
    run = await house.accounts.set_limits(RUN, Limits(tokens=100))
    assert (step.spent.tokens, run.spent.tokens) == (20, 30)
    await gate.complete(ask(step_key="b/again"))
    assert spent(house, step.scope).tokens == 30
    with pytest.raises(BudgetExceeded):
        await gate.complete(ask(step_key="b/more"))
    listed = house.database.read(list_budgets)
    assert [str(budget.scope) for budget in listed] == ["run:run_1", "step:run_1/b"]


@pytest.mark.req("ERR-123")
async def test_a_task_must_fit_into_its_session_and_a_session_into_the_project(
    house: Any,
) -> None:
    await house.database.write(make_run)
    await house.accounts.set_limits(PROJECT, Limits(tokens=1000, calls=50))
    await house.accounts.set_limits(SESSION, Limits(tokens=500))
    for scope, limits in (
        (SESSION, Limits(tokens=1001)),
        (RUN, Limits(tokens=501)),
        (RUN, Limits(calls=51)),
        (Scope.parse("step:run_1/b"), Limits(tokens=501)),
    ):
        with pytest.raises(InvalidInput, match="do not fit"):
            await house.accounts.set_limits(scope, limits)
    kept = await house.accounts.set_limits(RUN, Limits(tokens=500, calls=50))
    assert kept.limits == Limits(tokens=500, calls=50)
    again = await house.accounts.set_limits(RUN, Limits(calls=20))
    assert again.limits == Limits(tokens=500, calls=20)


def make_run(connection: Any) -> None:
    connection.execute(
        "INSERT INTO sessions (id, position, name, state, context, created_at, last_active_at)"
        " VALUES ('sess_1', 1, 'main', 'active', '{}', 0, 0)"
    )
    connection.execute(
        "INSERT INTO runs (id, position, session_id, choreography, title, state, args, parent_seq,"
        " origin, created_at, updated_at)"
        " VALUES ('run_1', 1, 'sess_1', 'x/y', '', 'running', '{}', 0, 'start', 0, 0)"
    )


async def test_what_a_dead_process_held_is_booked_and_stands_in_nobodys_way(
    open_house: Any, ask: Any
) -> None:
    def dead(_connection: Any, process_id: str) -> bool:
        return process_id != "proc_dead"

    gone = open_house(process_id="proc_dead")
    await gone.accounts.set_limits(RUN, Limits(tokens=30))
    assert await gone.accounts.try_reserve(ask()) is not None
    here = open_house(process_id="proc_here", is_alive=dead)
    alive = await here.accounts.try_reserve(ask())
    # 26 of 30 are held, half of them by nobody; only the living half is waited for.
    async with aclosing(here.gate(Script(Line(usage=Usage(3, 1)))).stream(ask())) as chunks:
        assert isinstance(await anext(chunks), Working)
        (lost,) = here.database.read(list_calls)
        assert (lost.outcome, lost.error_code, lost.is_estimated) == (
            CallOutcome.ABORTED,
            "process_died",
            True,
        )
        assert lost.usage == Usage(3, 10)
        assert (spent(here, RUN).tokens, spent(here, RUN).microusd) == (13, 23)
        assert [row["id"] for row in here.rows("SELECT id FROM reservations")] == [alive.id]
        await here.accounts.settle(alive, Amounts())
        assert [chunk async for chunk in chunks]
    assert spent(here, RUN).tokens == 17


async def test_starting_up_settles_the_dead_and_leaves_the_living_alone(
    open_house: Any, ask: Any
) -> None:
    first = open_house(process_id="proc_1")
    await first.accounts.set_limits(RUN, Limits(tokens=100))
    await first.accounts.try_reserve(ask())
    await first.accounts.try_reserve(ask())
    assert await open_house(process_id="proc_2").accounts.start() == 0
    again = open_house(process_id="proc_3", is_alive=lambda _c, name: name == "proc_3")
    assert await again.accounts.start() == 2
    assert await again.accounts.start() == 0
    assert spent(again, RUN).tokens == 26


@pytest.mark.parametrize("text", ["", "run", "run:", "everything", "project:x", "tasks:1"])
def test_what_no_budget_can_be_set_for_is_refused_with_what_can(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Scope.parse(text)
    assert "provider:NAME" in (refused.value.fix or "")


def test_the_whole_project_may_also_be_called_global() -> None:
    assert Scope.parse("global") == PROJECT
