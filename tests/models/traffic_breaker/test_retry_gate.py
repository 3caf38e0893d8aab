"""Retries: which failures, how often, after how long, and what the caller sees of them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest
from breaker_props import HandClock, Notices, ask, chunks_of, last_reply, texts

from callboard.core.errors import ErrorTier, ProviderError
from callboard.core.events import CallRetried
from callboard.core.settings import Settings
from callboard.core.settings.errors import RetryPolicy
from callboard.models import (
    Chunk,
    CircuitOpen,
    DirectGate,
    Failure,
    Finished,
    InvalidReply,
    Line,
    ModelReply,
    ModelRequest,
    ProviderTimeout,
    Restarted,
    Script,
    TextChunk,
    WrapperGate,
)
from callboard.models.traffic.retry import RetryGate
from callboard.store.connection import StoreBusy

pytestmark = pytest.mark.anyio

BLIP = Line("never seen", drop_after=0)
DOWN = Line(fail=Failure(503, "down for tea"))


def retrying(script: Any, clock: HandClock, notices: Notices, **more: Any) -> RetryGate:
    inner = script if isinstance(script, WrapperGate) else DirectGate({"script": script})
    options: dict[str, Any] = {"uniform": lambda: 1.0, **more}
    return RetryGate(
        inner,
        options.pop("policies", Settings().errors.retry.policies()),
        clock=clock,
        sleep=clock.sleep,
        notify=notices,
        **options,
    )


@pytest.mark.req("ERR-13", "ERR-17", "QF-144")
async def test_a_passing_fault_is_retried_in_growing_steps(
    clock: HandClock, notices: Notices
) -> None:
    script = Script(BLIP, BLIP, BLIP, BLIP, "calm")
    reply = await retrying(script, clock, notices).complete(ask())
    assert (reply.text, reply.attempts) == ("calm", 5)
    assert clock.waits == pytest.approx([0.1, 0.2, 0.4, 0.8])
    assert [each.attempt for each in notices.of(CallRetried)] == [1, 2, 3, 4]


@pytest.mark.req("ERR-17")
async def test_a_provider_in_trouble_has_its_own_policy(clock: HandClock, notices: Notices) -> None:
    gate = retrying(Script(DOWN, DOWN, DOWN, "too late"), clock, notices)
    with pytest.raises(ProviderError) as caught:
        await gate.complete(ask())
    assert clock.waits == [5.0, 10.0]
    assert caught.value.status == 503
    assert caught.value.context["attempts"] == 3


@pytest.mark.req("ERR-17")
async def test_waits_are_capped_and_counted_by_tier(clock: HandClock, notices: Notices) -> None:
    policies = Settings().errors.retry.policies() | {
        ErrorTier.TRANSIENT: RetryPolicy.make(4, 2.0, 3.0),
        ErrorTier.EXTERNAL_DEGRADING: RetryPolicy.make(2, 7.0, 30.0),
    }
    script = Script(BLIP, BLIP, DOWN, BLIP, "calm")
    reply = await retrying(script, clock, notices, policies=policies).complete(ask())
    assert clock.waits == [2.0, 3.0, 7.0, 3.0]
    assert reply.attempts == 5


@pytest.mark.req("QF-144")
async def test_waits_are_spread_between_nothing_and_the_whole(
    clock: HandClock, notices: Notices
) -> None:
    draws = iter([0.0, 0.25, 0.999])
    gate = retrying(Script(BLIP, BLIP, BLIP, "calm"), clock, notices, uniform=lambda: next(draws))
    await gate.complete(ask())
    assert clock.waits == pytest.approx([0.0, 0.05, 0.3996])


@pytest.mark.req("ERR-12", "ERR-14")
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_what_no_retry_mends_is_not_retried(
    clock: HandClock, notices: Notices, status: int
) -> None:
    script = Script(Line(fail=Failure(status)), "never")
    with pytest.raises(ProviderError) as caught:
        await retrying(script, clock, notices).complete(ask())
    assert caught.value.status == status
    assert not caught.value.retryable
    assert (len(script.calls), clock.waits, notices.told) == (1, [], [])


async def test_a_rate_limit_is_left_to_the_queue(clock: HandClock, notices: Notices) -> None:
    script = Script(Line(fail=Failure(429, headers={"Retry-After": "3"})), "never")
    with pytest.raises(ProviderError) as caught:
        await retrying(script, clock, notices).complete(ask())
    assert caught.value.tier is ErrorTier.EXTERNAL_RATE_LIMIT
    assert len(script.calls) == 1


async def test_a_reply_that_breaks_its_schema_is_not_retried(
    clock: HandClock, notices: Notices
) -> None:
    class Stubborn(WrapperGate):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
            raise InvalidReply("no JSON", partial="well")
            yield TextChunk("")

    with pytest.raises(InvalidReply):
        await retrying(Stubborn(DirectGate({})), clock, notices).complete(ask())
    assert clock.waits == []


async def test_an_open_circuit_ends_the_attempts(clock: HandClock, notices: Notices) -> None:
    class Tripping(WrapperGate):
        calls = 0

        async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
            self.calls += 1
            if self.calls > 1:
                raise CircuitOpen("left alone")
            raise ProviderError("HTTP 500", status=500, tier=ErrorTier.EXTERNAL_DEGRADING)
            yield TextChunk("")

    inner = Tripping(DirectGate({}))
    with pytest.raises(CircuitOpen) as caught:
        await retrying(inner, clock, notices).complete(ask())
    assert inner.calls == 2
    assert str(caught.value.__cause__) == "HTTP 500"


async def test_a_failing_ledger_does_not_make_a_call_happen_twice(
    clock: HandClock, notices: Notices
) -> None:
    class Forgetful(WrapperGate):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
            async with aclosing(self.inner.stream(request)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Finished):
                        raise StoreBusy("the database is locked")
                    yield chunk

    script = Script("answered", "answered twice")
    with pytest.raises(StoreBusy):
        await retrying(Forgetful(DirectGate({"script": script})), clock, notices).complete(ask())
    assert len(script.calls) == 1


async def test_half_a_text_is_voided_before_the_next_attempt_and_kept(
    clock: HandClock, notices: Notices
) -> None:
    script = Script(Line("The sea is wild and wide", drop_after=10), "The sea is calm")
    chunks = await chunks_of(retrying(script, clock, notices), ask())
    kinds = [type(each).__name__ for each in chunks]
    assert kinds == ["TextChunk", "Restarted", "Working", "TextChunk", "Finished"]
    assert texts(chunks) == ["The sea is", "The sea is calm"]
    assert last_reply(chunks).text == "The sea is calm"
    assert [each.partial for each in notices.of(CallRetried)] == ["The sea is"]


async def test_nothing_is_voided_where_nothing_was_said(clock: HandClock, notices: Notices) -> None:
    chunks = await chunks_of(retrying(Script(BLIP, "calm"), clock, notices), ask())
    assert not any(isinstance(each, Restarted) for each in chunks)


async def test_the_longest_text_of_all_attempts_is_kept_in_the_error(
    clock: HandClock, notices: Notices
) -> None:
    long = Line("The sea is wild", drop_after=15)
    script = Script(long, BLIP, BLIP, BLIP, Line("never", drop_after=0))
    with pytest.raises(ProviderError) as caught:
        await retrying(script, clock, notices).complete(ask())
    assert caught.value.partial == "The sea is wild"
    assert caught.value.record().context["partial"] == "The sea is wild"


@pytest.mark.req("ERR-13", "ERR-21", "ERR-22")
async def test_single_blips_are_quiet_and_a_burst_is_told_once(
    clock: HandClock, notices: Notices
) -> None:
    gate = retrying(Script(*[BLIP, "calm"] * 5), clock, notices)
    for _ in range(5):
        await gate.complete(ask())
        clock.advance(1)
    assert [each.is_quiet for each in notices.of(CallRetried)] == [True, True, False, True, True]


async def test_trouble_is_told_at_once(clock: HandClock, notices: Notices) -> None:
    gate = retrying(Script(DOWN, "calm"), clock, notices)
    request = ask(run_id="run_1")
    await gate.complete(request)
    ((told, about),) = notices.told
    assert isinstance(told, CallRetried)
    assert (told.is_quiet, told.tier, told.delay_ms) == (False, "external_degrading", 5000)
    assert "down for tea" in told.message
    assert about == request


async def test_the_total_time_covers_all_attempts(clock: HandClock, notices: Notices) -> None:
    class Watched(WrapperGate):
        seen: list[float | None]

        async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
            self.seen.append(request.timeout_seconds)
            clock.advance(4)
            async with aclosing(self.inner.stream(request)) as chunks:
                async for chunk in chunks:
                    yield chunk

    watched = Watched(DirectGate({"script": Script(DOWN, DOWN, "too late")}))
    watched.seen = []
    with pytest.raises(ProviderError):
        await retrying(watched, clock, notices).complete(ask(timeout_seconds=20.0))
    # 4 s of work, 5 s of waiting, 4 s of work; another wait of 10 s would end after the deadline.
    assert watched.seen == [20.0, 11.0]
    assert clock.waits == [5.0]


async def test_a_call_that_used_up_its_time_is_not_repeated(
    clock: HandClock, notices: Notices
) -> None:
    class Slow(WrapperGate):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
            clock.advance(request.timeout_seconds or 0)
            raise ProviderTimeout("took too long", partial="half")
            yield TextChunk("")

    with pytest.raises(ProviderTimeout) as caught:
        await retrying(Slow(DirectGate({})), clock, notices).complete(ask(timeout_seconds=9))
    assert caught.value.context["attempts"] == 1
    assert caught.value.partial == "half"


async def test_cancelling_the_wait_leaves_nothing_behind(notices: Notices) -> None:
    waits = asyncio.Event()

    async def for_ever(_seconds: float) -> None:
        waits.set()
        await asyncio.get_running_loop().create_future()

    before = asyncio.all_tasks()
    script = Script(DOWN, "never")
    gate = RetryGate(DirectGate({"script": script}), sleep=for_ever, notify=notices)
    task = asyncio.create_task(gate.complete(ask()))
    await waits.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == before
    assert len(script.calls) == 1


async def test_an_abandoned_stream_closes_the_one_inside(
    clock: HandClock, notices: Notices
) -> None:
    closed = asyncio.Event()

    class Endless(WrapperGate):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
            try:
                while True:
                    yield TextChunk("more ")
            finally:
                closed.set()

    async with aclosing(retrying(Endless(DirectGate({})), clock, notices).stream(ask())) as chunks:
        await anext(chunks)
    assert closed.is_set()


async def test_attempts_are_stored_with_the_reply() -> None:
    reply = ModelReply("text", "script", attempts=3)
    assert ModelReply.from_json(reply.to_json()).attempts == 3
    older = {key: value for key, value in reply.to_json().items() if key != "attempts"}
    assert ModelReply.from_json(older).attempts == 1
