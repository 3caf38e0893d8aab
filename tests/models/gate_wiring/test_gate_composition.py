"""What every call passes on its way, in which order, and what it carries along."""

import ast
import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

import callboard
from callboard.core.errors import ErrorTier, ProviderError
from callboard.models import (
    Catalog,
    Ended,
    Message,
    ModelRequest,
    ProviderChunk,
    Restarted,
    TextChunk,
    Usage,
)
from callboard.models.accounts import BudgetExceeded, Limits, Prices, Scope, list_calls
from callboard.testing import Failure, Line, Script
from callboard.testing.openai_server import OpenAIServer

pytestmark = pytest.mark.anyio

ROOT = Path(callboard.__file__).parent
SDKS = {"pydantic_ai", "xllamacpp", "openai", "anthropic", "google", "mistralai", "groq", "litellm"}


def asking(model: str = "script", **more: Any) -> ModelRequest:
    return ModelRequest(model, (Message("user", "How is the sea?"),), **more)


async def ledger(studio: Any) -> Any:
    """Return all calls on record, once everything is."""
    await studio.accounts.flush()
    return studio.database.read(list_calls)


def layers_of(gate: Any) -> list[str]:
    names = [type(gate).__name__]
    while hasattr(gate, "inner"):
        gate = gate.inner
        names.append(type(gate).__name__)
    return names


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


@pytest.mark.req("LLM-01")
def test_only_the_providers_behind_the_gate_know_an_sdk() -> None:
    users = {
        file.relative_to(ROOT).parent.as_posix()
        for file in ROOT.rglob("*.py")
        if SDKS & set(imported(file))
    }
    assert users == {"models/providers"}


@pytest.mark.req("LLM-02")
async def test_a_call_passes_queue_budget_limiter_and_router_in_this_order(open_house: Any) -> None:
    async with open_house() as studio:
        layers = layers_of(studio.gate)
    assert layers == [
        "DiscreetGate",
        "FallbackGate",
        "LadderGate",
        "QueueGate",
        "RetryGate",
        "BudgetGate",
        "LimiterGate",
        "BreakerGate",
        "MeterGate",
        "DirectGate",
    ]


class Parrot:
    """A provider nobody has heard of."""

    constrains_json = False

    def __init__(self) -> None:
        self.asked: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
        self.asked.append(request)
        yield TextChunk(request.prompt_text)
        yield Ended(request.model, Usage(4, 5))

    async def close(self) -> None:
        pass


@pytest.mark.req("LLM-15", "LLM-17", "LLM-63")
async def test_a_new_provider_is_queued_budgeted_and_booked_and_every_id_reaches_it_untouched(
    open_house: Any,
) -> None:
    parrot = Parrot()
    who = {
        "session_id": "sess_1",
        "run_id": "run_1",
        "step_key": "b/draft",
        "agent_id": "writer",
        "prompt_id": "prompt_1",
        "priority": 40,
    }
    async with open_house(providers={"parrot": parrot}) as studio:
        await studio.accounts.set_limits(Scope.parse("provider:parrot"), Limits(calls=1))
        reply = await studio.gate.complete(asking("parrot:grey", metadata={"pack": "p"}, **who))
        with pytest.raises(BudgetExceeded):
            await studio.gate.complete(asking("parrot:grey", **who))
        (call,) = await ledger(studio)
    assert (reply.text, reply.model) == ("How is the sea?", "parrot:grey")
    (request,) = parrot.asked
    booked = call.spender
    for name, value in who.items():
        assert getattr(request, name) == value
        assert getattr(booked, name) == value
    assert (booked.provider, booked.model, booked.pack) == ("parrot", "parrot:grey", "p")
    assert (call.usage, call.outcome.value) == (Usage(4, 5), "ok")


@pytest.mark.req("ERR-131")
async def test_a_plan_that_is_used_up_keeps_the_queue_from_sending(open_house: Any) -> None:
    parrot = Parrot()
    plan = {"subscriptions": {"parrot": {"day": {"max_requests": 1}}}}
    async with open_house(providers={"parrot": parrot}, budgets=plan) as studio:
        await studio.gate.complete(asking("parrot:grey"))
        for _ in range(3):
            with pytest.raises(BudgetExceeded) as refused:
                await studio.gate.complete(asking("parrot:grey"))
    assert len(parrot.asked) == 1
    assert refused.value.context["scope"] == "provider:parrot per day"


@pytest.mark.req("LLM-49")
async def test_the_estimate_a_request_carries_is_what_its_budget_is_checked_with(
    open_house: Any,
) -> None:
    parrot = Parrot()
    async with open_house(providers={"parrot": parrot}) as studio:
        await studio.accounts.set_limits(Scope.parse("project"), Limits(tokens=1000))
        large = {"estimated_tokens": 995}
        with pytest.raises(BudgetExceeded) as refused:
            await studio.gate.complete(asking("parrot:x", max_tokens=10, metadata=large))
        await studio.gate.complete(
            asking("parrot:x", max_tokens=10, metadata={"estimated_tokens": 5})
        )
        (call,) = await ledger(studio)
    assert refused.value.context["wanted"] == 1005
    assert call.spender.estimated_tokens == 5


@pytest.mark.req("LLM-16")
def test_a_model_tells_its_id_window_and_prices_per_million_tokens() -> None:
    own = {"house-model": {"window": 16000, "input_usd": 0.5, "output_usd": 1.5}}
    catalog = Catalog.load(own)
    facts = catalog.facts("house:house-model")
    assert (facts.id, facts.window_tokens) == ("house-model", 16000)
    assert facts.price is not None
    assert (facts.price.input_usd, facts.price.output_usd) == (0.5, 1.5)
    prices = Prices(catalog)
    assert prices.cost("house:house-model", Usage(1_000_000, 2_000_000)) == 3_500_000


async def test_a_slow_reader_holds_the_provider_back_and_nothing_is_lost_or_left(
    open_house: Any,
) -> None:
    written: list[int] = []

    class Fast:
        constrains_json = False
        was_left = False

        async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
            try:
                for number in range(300):
                    written.append(number)
                    yield TextChunk(f"{number} ")
                yield Ended(request.model, Usage(1, 300))
            finally:
                Fast.was_left = True

        async def close(self) -> None:
            pass

    async with open_house(providers={"fast": Fast()}) as studio:
        async with aclosing(studio.gate.stream(asking("fast:x"))) as chunks:
            texts = []
            async for chunk in chunks:
                if isinstance(chunk, TextChunk):
                    texts.append(chunk.text)
                    # Level 1: never more ahead than one chunk, whatever the reader does meanwhile.
                    await asyncio.sleep(0)
                    assert len(written) == len(texts)
                if len(texts) == 120:
                    # Level 2: whoever reads decides that it is enough; what it has stays its own.
                    break
        # Level 3: nobody goes on writing, and the ledger has what was read.
        assert Fast.was_left
        assert len(written) == 120
        reply = await studio.gate.complete(asking("fast:x"))
        calls = await ledger(studio)
    assert reply.text == "".join(f"{number} " for number in range(300))
    assert [call.outcome.value for call in calls] == ["aborted", "ok"]
    assert calls[0].is_estimated


async def test_a_line_that_breaks_keeps_what_was_said_and_the_next_attempt_starts_again(
    open_house: Any, openai_server: OpenAIServer
) -> None:
    providers = {"house": {"base_url": openai_server.url}}
    fast = {"retry": {"transient": {"max_attempts": 2, "initial_delay_seconds": 0}}}
    openai_server.drops_after("The sea is wi")
    openai_server.says("The sea is calm.")
    openai_server.drops_after("The sea is wi")
    openai_server.drops_after("The se")
    async with open_house(models={"providers": providers}, errors=fast) as studio:
        chunks = [chunk async for chunk in studio.gate.stream(asking("house:tiny"))]
        with pytest.raises(ProviderError) as broken:
            await studio.gate.complete(asking("house:tiny"))
    kinds = [type(chunk) for chunk in chunks if isinstance(chunk, TextChunk | Restarted)]
    assert kinds.index(Restarted) == 1
    assert chunks[-1].reply.text == "The sea is calm."
    assert broken.value.tier is ErrorTier.TRANSIENT
    assert broken.value.partial == "The se"


def server_sent(*events: dict[str, Any], named: bool = False) -> bytes:
    lines = []
    for event in events:
        name = f"event: {event['type']}\n" if named else ""
        lines.append(f"{name}data: {json.dumps(event)}\n\n")
    return "".join(lines).encode()


ANTHROPIC = server_sent(
    {
        "type": "message_start",
        "message": {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "claude-x",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 7, "output_tokens": 1},
        },
    },
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "text", "text": ""},
    },
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": "The sea "},
    },
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": "is calm."},
    },
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 5},
    },
    {"type": "message_stop"},
    named=True,
)
GOOGLE = server_sent(
    {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "The sea "}]}}],
        "modelVersion": "gemini-x",
    },
    {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": "is calm."}]},
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 7,
            "candidatesTokenCount": 5,
            "totalTokenCount": 12,
        },
        "modelVersion": "gemini-x",
    },
)


@pytest.mark.req("LLM-03")
@pytest.mark.parametrize("provider", ["anthropic", "openai", "google"])
async def test_anthropic_openai_and_google_answer_in_their_own_protocols(
    open_house: Any, openai_server: OpenAIServer, provider: str
) -> None:
    if provider == "openai":
        openai_server.says("The sea is calm.")
    else:
        openai_server.says_raw({"anthropic": ANTHROPIC, "google": GOOGLE}[provider])
    own = {"base_url": openai_server.url, "api_key_env": "HOUSE_KEY"}
    async with open_house(
        keys={"HOUSE_KEY": "k-123"}, models={"providers": {provider: own}}
    ) as studio:
        reply = await studio.gate.complete(asking(f"{provider}:some-model", max_tokens=50))
        (call,) = await ledger(studio)
    assert reply.text == "The sea is calm."
    assert reply.usage.output_tokens == 5
    assert reply.usage.input_tokens in (7, 11)
    assert reply.finish_reason in ("stop", "end_turn")
    assert (call.spender.provider, call.usage.output_tokens) == (provider, 5)


async def test_a_reply_tells_content_tokens_reason_model_and_how_long_it_took(
    open_house: Any,
) -> None:
    script = Script(Line("Calm.", usage=Usage(3, 2, 1), finish_reason="length"))
    async with open_house(providers={"script": script}) as studio:
        reply = await studio.gate.complete(asking("script"))
    assert (reply.text, reply.usage, reply.finish_reason) == ("Calm.", Usage(3, 2, 1), "length")
    assert reply.model == "script"
    assert reply.duration_ms >= 0


class SlowWriter:
    """Writes past every limit, a letter at a time, and then is done."""

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


async def test_the_embedded_model_may_be_slow_and_no_other(open_house: Any) -> None:
    providers = {"local": SlowWriter(), "script": SlowWriter()}
    limits = {"timeout_seconds": 0.05, "inactivity_timeout_seconds": 10.0}
    async with open_house(providers=providers, models=limits) as studio:
        reply = await studio.gate.complete(asking("local"))
        assert set(reply.text) == {"a"}
        assert reply.attempts == 1
        with pytest.raises(ProviderError, match="took too long"):
            await studio.gate.complete(asking("script"))


async def test_the_embedded_model_is_never_left_alone(open_house: Any) -> None:
    falters = [Line("", fail=Failure(503, "busy")) for _ in range(40)]
    script = Script(*falters, Line("Calm.", times=None))
    retry = {"transient": {"max_attempts": 1}, "external_degrading": {"max_attempts": 1}}
    async with open_house(providers={"local": script}, errors={"retry": retry}) as studio:
        for _ in falters:
            with pytest.raises(ProviderError, match="busy"):
                await studio.gate.complete(asking("local"))
        assert (await studio.gate.complete(asking("local"))).text == "Calm."
