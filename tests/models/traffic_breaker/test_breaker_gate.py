"""The gate that leaves a failing provider alone; circuits kept in this process."""

import asyncio
from contextlib import aclosing

import pytest
from breaker_props import HandClock, Notices, ask, texts

from callboard.core.breaker import CircuitState
from callboard.core.classify import Classifier
from callboard.core.errors import ErrorTier, ProviderError
from callboard.core.events import CircuitChanged
from callboard.core.settings.circuit import BreakerRules
from callboard.models import (
    CircuitOpen,
    DirectGate,
    Failure,
    Line,
    ProviderTimeout,
    Script,
    TextChunk,
)
from callboard.models.traffic.breaker import BreakerGate, LocalBreakers

pytestmark = pytest.mark.anyio

DOWN = Line(fail=Failure(500), times=None)
RULES = {
    "llm": BreakerRules(
        consecutive_failures=3,
        failure_rate=0.5,
        window_size=6,
        cooldown_seconds=30.0,
        success_threshold=2,
    )
}


@pytest.fixture
def breakers(clock: HandClock, notices: Notices) -> LocalBreakers:
    return LocalBreakers(RULES, clock=clock, notify=notices)


def guarded(breakers: LocalBreakers, clock: HandClock, **scripts: Script) -> BreakerGate:
    return BreakerGate(DirectGate(scripts), breakers, clock=clock)


async def fail(gate: BreakerGate, times: int, model: str = "script") -> None:
    for _ in range(times):
        with pytest.raises(ProviderError):
            await gate.complete(ask(model))


@pytest.mark.req("ERR-34")
async def test_after_failures_in_a_row_calls_fail_at_once_and_say_why(
    breakers: LocalBreakers, clock: HandClock
) -> None:
    script = Script(DOWN)
    gate = guarded(breakers, clock, acme=script)
    await fail(gate, 3, "acme:big")
    clock.advance(7)
    with pytest.raises(CircuitOpen) as caught:
        await gate.complete(ask("acme:small"))
    assert len(script.calls) == 3
    error = caught.value
    assert (error.code, error.tier) == ("circuit_open", ErrorTier.EXTERNAL_DEGRADING)
    assert Classifier().tier_of(error) is ErrorTier.EXTERNAL_DEGRADING
    assert "'acme'" in error.message
    assert "in 23 s" in error.message
    assert "callboard models reset acme" in (error.fix or "")
    assert error.context["retry_at_ms"] == clock.now_ms() + 23_000


@pytest.mark.req("ERR-44")
async def test_each_provider_has_its_own_circuit(breakers: LocalBreakers, clock: HandClock) -> None:
    gate = guarded(breakers, clock, acme=Script(DOWN), other=Script("calm"))
    await fail(gate, 3, "acme:big")
    assert (await gate.complete(ask("other:big"))).text == "calm"
    assert breakers.breaker("llm:acme").state is CircuitState.OPEN
    assert breakers.breaker("llm:other").state is CircuitState.CLOSED


@pytest.mark.req("ERR-38", "ERR-40", "ERR-43")
async def test_it_recovers_through_probes_and_tells_every_change(
    breakers: LocalBreakers, clock: HandClock, notices: Notices
) -> None:
    script = Script(Line(fail=Failure(500), times=3), Line("calm", times=None))
    gate = guarded(breakers, clock, script=script)
    await fail(gate, 3)
    opened_at = clock.now_ms()
    clock.advance(30)
    for _ in range(3):
        assert (await gate.complete(ask())).text == "calm"
    told = notices.of(CircuitChanged)
    assert [(each.was, each.state) for each in told] == [
        ("closed", "open"),
        ("open", "half_open"),
        ("half_open", "closed"),
    ]
    assert told[0].resource == "llm:script"
    assert told[0].reason == "3 failures in a row"
    assert [each.retry_at for each in told] == [opened_at + 30_000, 0, 0]


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        (Line(fail=Failure(500), times=None), True),
        (Line(fail=Failure(503), times=None), True),
        (Line("half a word", drop_after=4, times=None), True),
        (Line(fail=Failure(400), times=None), False),
        (Line(fail=Failure(401), times=None), False),
        (Line(fail=Failure(404), times=None), False),
        (Line(fail=Failure(429), times=None), False),
    ],
)
async def test_only_trouble_of_the_provider_counts(
    breakers: LocalBreakers, clock: HandClock, line: Line, counts: bool
) -> None:
    gate = guarded(breakers, clock, script=Script(line))
    await fail(gate, 3)
    state = breakers.breaker("llm:script").state
    assert state is (CircuitState.OPEN if counts else CircuitState.CLOSED)


async def test_silence_counts(breakers: LocalBreakers, clock: HandClock) -> None:
    gate = guarded(breakers, clock, script=Script(Line(hang=True, times=None)))
    for _ in range(3):
        with pytest.raises(ProviderTimeout):
            await gate.complete(ask(timeout_seconds=0.01))
    assert breakers.breaker("llm:script").state is CircuitState.OPEN


@pytest.mark.req("ERR-41")
async def test_while_one_call_tries_it_out_the_others_are_refused(
    breakers: LocalBreakers, clock: HandClock
) -> None:
    script = Script(Line(fail=Failure(500), times=3), Line("calm", hold="probe"), "fine")
    gate = guarded(breakers, clock, script=script)
    await fail(gate, 3)
    clock.advance(30)
    probe = asyncio.create_task(gate.complete(ask()))
    await script.reached("probe")
    with pytest.raises(CircuitOpen, match="trying it out right now"):
        await gate.complete(ask())
    script.release("probe")
    assert (await probe).text == "calm"
    assert (await gate.complete(ask())).text == "fine"


@pytest.mark.parametrize("how", ["cancelled", "closed early", "bad request"])
async def test_a_probe_that_says_nothing_makes_room_for_the_next(
    breakers: LocalBreakers, clock: HandClock, how: str
) -> None:
    held = Line("calm and quiet", hold="probe")
    second = Line(fail=Failure(400)) if how == "bad request" else held
    script = Script(Line(fail=Failure(500), times=3), second, "fine")
    gate = guarded(breakers, clock, script=script)
    await fail(gate, 3)
    clock.advance(30)
    if how == "bad request":
        await fail(gate, 1)
    elif how == "cancelled":
        task = asyncio.create_task(gate.complete(ask()))
        await script.reached("probe")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        script.release("probe")
        async with aclosing(gate.stream(ask())) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextChunk):
                    break
    assert breakers.breaker("llm:script").state is CircuitState.HALF_OPEN
    assert (await gate.complete(ask())).text == "fine"


async def test_a_reply_taken_without_reading_on_is_a_success(
    breakers: LocalBreakers, clock: HandClock
) -> None:
    """`complete` stops at the reply and closes the stream; that must not look like giving up."""
    gate = guarded(breakers, clock, script=Script("calm"))
    await gate.complete(ask())
    assert breakers.breaker("llm:script").window == (False,)


@pytest.mark.req("ERR-42")
async def test_a_reset_lets_calls_pass_again(
    breakers: LocalBreakers, clock: HandClock, notices: Notices
) -> None:
    script = Script(Line(fail=Failure(500), times=3), "calm")
    gate = guarded(breakers, clock, script=script)
    await fail(gate, 3)
    before = await breakers.reset("llm:script")
    assert before.state is CircuitState.OPEN
    assert (await gate.complete(ask())).text == "calm"
    assert notices.of(CircuitChanged)[-1].reason == "reset by hand"


async def test_the_reply_passes_unchanged(breakers: LocalBreakers, clock: HandClock) -> None:
    text = "The sea is calm, and so is everybody who looks at it."
    gate = guarded(breakers, clock, script=Script(text))
    chunks = [chunk async for chunk in gate.stream(ask())]
    assert "".join(texts(chunks)) == text
