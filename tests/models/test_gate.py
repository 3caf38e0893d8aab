"""The gate through its public door, with the scripted model behind it."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from callboard.core.errors import Conflict, ErrorTier, ProviderError
from callboard.models import (
    Chunk,
    DirectGate,
    Ended,
    Failure,
    Finished,
    LadderGate,
    Line,
    Message,
    ModelReply,
    ModelRequest,
    ProviderChunk,
    ProviderTimeout,
    Rung,
    Script,
    TextChunk,
    TimeLimits,
    UnknownModel,
    Usage,
    Working,
    WrapperGate,
)

pytestmark = pytest.mark.anyio

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
}


class SteppedClock:
    """A clock that moves on by one second whenever it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def now_ms(self) -> int:
        return int(self.now * 1000)

    def monotonic(self) -> float:
        self.now += 1.0
        return self.now


def ask(**more: Any) -> ModelRequest:
    return ModelRequest("script", (Message("user", "Say something."),), **more)


async def test_a_call_is_the_drained_stream() -> None:
    text = "Once upon a time there was a call that was also a stream."
    gate = DirectGate({"script": Script(Line(text, times=None))})
    chunks = [chunk async for chunk in gate.stream(ask())]
    pieces = [chunk.text for chunk in chunks if isinstance(chunk, TextChunk)]
    reply = await gate.complete(ask())
    assert len(pieces) > 1
    assert "".join(pieces) == reply.text == text
    assert isinstance(chunks[-1], Finished)


async def test_a_reply_tells_its_times_and_its_speed() -> None:
    line = Line("one two three", usage=Usage(7, 3, 2))
    gate = DirectGate({"script": Script(line)}, clock=SteppedClock())
    reply = await gate.complete(ask())
    assert reply.usage == Usage(7, 3, 2)
    # Read at the start, at the one text chunk, at its end and for the reply: 1, 2, 3, 4.
    assert (reply.first_token_ms, reply.duration_ms) == (1000, 3000)
    assert reply.tokens_per_second == pytest.approx(1.5)


async def test_a_reply_survives_being_stored() -> None:
    gate = LadderGate(DirectGate({"script": Script("oh", Line(json={"n": 1}))}))
    reply = await gate.complete(ask(json_schema=SCHEMA))
    assert reply.rungs == (Rung.SCHEMA, Rung.TAGGED)
    assert ModelReply.from_json(json.loads(json.dumps(reply.to_json()))) == reply


async def test_the_part_before_the_colon_chooses_the_provider() -> None:
    first, second = Script("first"), Script("second")
    gate = DirectGate({"a": first, "b": second}, fallback=Script("fallback"))
    request = ask()
    assert (await gate.complete(replace(request, model="a"))).text == "first"
    assert (await gate.complete(replace(request, model="b:some/model:7b"))).text == "second"
    assert (await gate.complete(replace(request, model="c:x"))).text == "fallback"


@pytest.mark.parametrize("model", ["gpt-4o", ""])
async def test_an_id_without_provider_is_explained(model: str) -> None:
    gate = DirectGate({"local": Script()}, fallback=Script())
    with pytest.raises(UnknownModel) as caught:
        await gate.complete(replace(ask(), model=model))
    assert repr(model) in caught.value.message
    assert "local" in caught.value.message
    assert "openai:gpt-4o" in (caught.value.fix or "")


class Constrained(Script):
    """A provider that claims to enforce schemas."""

    constrains_json = True


async def test_it_judges_no_structure_but_tells_who_enforced_it() -> None:
    gate = DirectGate({"script": Script("no JSON at all"), "sure": Constrained('{"n": 3}', "hi")})
    loose = await gate.complete(ask(json_schema=SCHEMA))
    assert (loose.text, loose.data, loose.is_constrained) == ("no JSON at all", None, False)
    assert (await gate.complete(replace(ask(json_schema=SCHEMA), model="sure"))).is_constrained
    assert not (await gate.complete(replace(ask(), model="sure"))).is_constrained


@pytest.mark.parametrize(
    ("status", "tier"),
    [
        (500, ErrorTier.EXTERNAL_DEGRADING),
        (429, ErrorTier.EXTERNAL_RATE_LIMIT),
        (401, ErrorTier.USER_FIXABLE),
        (418, ErrorTier.PERMANENT),
    ],
)
async def test_an_http_failure_keeps_status_headers_and_gets_its_tier(
    status: int, tier: ErrorTier
) -> None:
    failing = Line(fail=Failure(status, "nope", {"Retry-After": "3"}))
    with pytest.raises(ProviderError) as caught:
        await DirectGate({"script": Script(failing)}).complete(ask())
    assert (caught.value.status, caught.value.tier) == (status, tier)
    assert caught.value.headers == {"retry-after": "3"}
    assert caught.value.record().context["model"] == "script"


async def test_a_drop_in_the_middle_keeps_the_partial_text() -> None:
    script = Script(Line("The ship sailed into the night.", drop_after=9))
    with pytest.raises(ProviderError) as caught:
        await DirectGate({"script": script}).complete(ask())
    assert caught.value.partial == "The ship "
    assert caught.value.tier is ErrorTier.TRANSIENT
    assert caught.value.retryable


@pytest.mark.req("LLM-43")
async def test_a_hanging_provider_is_given_up_after_its_silence() -> None:
    limits = TimeLimits(inactivity_seconds=0.05)
    gate = DirectGate({"script": Script(Line(hang=True))}, limits=limits)
    with pytest.raises(ProviderTimeout, match="fell silent") as caught:
        await gate.complete(ask())
    assert (caught.value.code, caught.value.tier) == ("provider_timeout", ErrorTier.TRANSIENT)


class Chatty:
    """Shows signs of life for ever and never answers."""

    constrains_json = False
    was_closed = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
        try:
            yield TextChunk("I am ")
            while True:
                await asyncio.sleep(0)
                yield Working("still thinking")
        finally:
            self.was_closed = True

    async def close(self) -> None:
        pass


@pytest.mark.req("LLM-43")
async def test_endless_work_ends_at_the_total_limit_and_frees_the_provider() -> None:
    chatty = Chatty()
    with pytest.raises(ProviderTimeout, match="took too long") as caught:
        await DirectGate({"script": chatty}).complete(ask(timeout_seconds=0.05))
    assert caught.value.partial == "I am "
    assert chatty.was_closed


async def test_signs_of_life_hold_off_the_inactivity_limit() -> None:
    request = ask(timeout_seconds=0.3, inactivity_seconds=0.1)
    with pytest.raises(ProviderTimeout, match="took too long"):
        await DirectGate({"script": Chatty()}).complete(request)


class Leisurely:
    """Writes on and on, well past a limit, and then is done."""

    constrains_json = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
        loop = asyncio.get_running_loop()
        until = loop.time() + 0.3
        while loop.time() < until:
            await asyncio.sleep(0)
            yield TextChunk("a")
        yield Ended(request.model, Usage(1, 1))

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("model", ["script", "record:talk.jsonl:script"])
async def test_a_model_of_this_machine_that_keeps_writing_is_never_too_slow(model: str) -> None:
    limits = TimeLimits(0.05, 10.0, unhurried=frozenset(("script",)))
    gate = DirectGate({"script": Leisurely(), "record": Leisurely()}, limits=limits)
    assert set((await gate.complete(replace(ask(), model=model))).text) == {"a"}
    # Also where the caller names a time.
    assert (await gate.complete(replace(ask(timeout_seconds=0.05), model=model))).text


@pytest.mark.req("LLM-43")
async def test_a_model_of_this_machine_that_falls_silent_is_given_up() -> None:
    limits = TimeLimits(0.05, 0.1, unhurried=frozenset(("script",)))
    gate = DirectGate({"script": Script(Line(hang=True))}, limits=limits)
    with pytest.raises(ProviderTimeout, match="fell silent"):
        await gate.complete(ask())


async def test_a_slow_reader_is_not_mistaken_for_a_slow_model() -> None:
    script = Script("word " * 20)
    request = ask(inactivity_seconds=0.02)
    async with aclosing(DirectGate({"script": script}).stream(request)) as chunks:
        first = await anext(chunks)
        loop = asyncio.get_running_loop()
        later = loop.time() + 0.05
        while loop.time() < later:
            await asyncio.sleep(0)
        rest = [chunk async for chunk in chunks]
    assert isinstance(first, TextChunk)
    assert isinstance(rest[-1], Finished)


async def test_leaving_a_stream_frees_the_provider() -> None:
    chatty = Chatty()
    async with aclosing(DirectGate({"script": chatty}).stream(ask())) as chunks:
        await anext(chunks)
    assert chatty.was_closed


async def test_cancelling_a_call_frees_the_provider_and_stays_a_cancellation() -> None:
    script = Script(Line("late", hold="here"))
    task = asyncio.create_task(DirectGate({"script": script}).complete(ask()))
    await script.reached("here")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


class Odd:
    """Fails or ends in ways no provider should."""

    constrains_json = False

    def __init__(self, *chunks: ProviderChunk | Exception) -> None:
        self.chunks = chunks
        self.closed = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
        for chunk in self.chunks:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk

    async def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize(
    ("error", "tier"),
    [
        (TimeoutError(), ErrorTier.TRANSIENT),
        (ConnectionRefusedError("refused"), ErrorTier.EXTERNAL_DEGRADING),
        (PermissionError(13, "denied"), ErrorTier.USER_FIXABLE),
        (ZeroDivisionError("odd"), ErrorTier.PERMANENT),
    ],
)
async def test_any_exception_becomes_a_provider_error_with_tier_and_cause(
    error: Exception, tier: ErrorTier
) -> None:
    gate = DirectGate({"script": Odd(TextChunk("so far"), error)})
    with pytest.raises(ProviderError) as caught:
        await gate.complete(ask())
    assert (caught.value.tier, caught.value.partial) == (tier, "so far")
    assert caught.value.__cause__ is error


async def test_an_error_with_a_name_of_its_own_keeps_it() -> None:
    with pytest.raises(Conflict):
        await DirectGate({"script": Odd(Conflict("closed"))}).complete(ask())


async def test_a_provider_that_stops_without_an_end_has_dropped_the_line() -> None:
    with pytest.raises(ProviderError) as caught:
        await DirectGate({"script": Odd(TextChunk("half"))}).complete(ask())
    assert (caught.value.tier, caught.value.partial) == (ErrorTier.TRANSIENT, "half")


async def test_closing_closes_every_provider_once() -> None:
    shared, other = Odd(), Odd()
    await DirectGate({"a": shared, "b": shared}, fallback=other).close()
    assert (shared.closed, other.closed) == (1, 1)


class Shouting(WrapperGate):
    """A wrapper as the next ones will be: it overrides `stream` only."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        async with aclosing(self.inner.stream(request)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, Finished):
                    yield Finished(replace(chunk.reply, text=chunk.reply.text.upper()))
                else:
                    yield chunk


async def test_a_wrapper_that_overrides_the_stream_changes_the_plain_call_too() -> None:
    provider = Odd(TextChunk("hello"), Ended("script"))
    gate = Shouting(WrapperGate(DirectGate({"script": provider})))
    assert (await gate.complete(ask())).text == "HELLO"
    await gate.close()
    assert provider.closed == 1
