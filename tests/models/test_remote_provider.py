"""Remote models against a real HTTP server on this machine, on good and on bad days."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from pydantic_ai.providers import Provider

from callboard.core.classify import Classifier
from callboard.core.errors import CallboardError, ErrorTier, ProviderError
from callboard.models import (
    DirectGate,
    Finished,
    InvalidReply,
    LadderGate,
    Message,
    MissingKey,
    ModelRequest,
    PromptTooLong,
    ProviderConfig,
    ProviderTimeout,
    RemoteProvider,
    Restarted,
    Rung,
    TextChunk,
    UnknownModel,
)

pytestmark = pytest.mark.anyio

SECRET = "-".join(("sk", "very", "secret", "value"))
SCHEMA = {
    "type": "object",
    "properties": {"mood": {"enum": ["calm", "wild"]}},
    "required": ["mood"],
    "additionalProperties": False,
}


@pytest.fixture
async def gate(openai_server: Any) -> AsyncIterator[DirectGate]:
    configs = {"house": ProviderConfig(base_url=openai_server.url, api_key_env="HOUSE_KEY")}
    gate = DirectGate({}, fallback=RemoteProvider({"HOUSE_KEY": SECRET}, configs))
    yield gate
    await gate.close()


def ask(**more: Any) -> ModelRequest:
    messages = (Message("system", "You are brief."), Message("user", "How is the sea?"))
    return ModelRequest("house:tiny", messages, **more)


@pytest.mark.req("CR-09")
async def test_a_reply_comes_with_usage_and_time(gate: DirectGate, openai_server: Any) -> None:
    openai_server.says("The sea is calm today.")
    reply = await gate.complete(ask(max_tokens=40, temperature=0.3, stop=("END",), seed=7))
    assert reply.text == "The sea is calm today."
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (11, 5)
    assert reply.usage.cached_tokens == 3
    assert reply.finish_reason == "stop"
    assert reply.duration_ms >= (reply.first_token_ms or 0) >= 0
    sent = openai_server.bodies[0]
    assert sent["model"] == "tiny"
    assert [m["role"] for m in sent["messages"]] == ["system", "user"]
    assert sent["temperature"] == 0.3
    assert sent["seed"] == 7
    assert sent["stop"] == ["END"]
    assert 40 in (sent.get("max_tokens"), sent.get("max_completion_tokens"))
    assert openai_server.headers[0]["authorization"] == f"bearer {SECRET}"


async def test_text_arrives_in_pieces(gate: DirectGate, openai_server: Any) -> None:
    openai_server.says("The sea is calm today.")
    chunks = [chunk async for chunk in gate.stream(ask())]
    pieces = [chunk.text for chunk in chunks if isinstance(chunk, TextChunk)]
    assert len(pieces) > 1
    assert isinstance(chunks[-1], Finished)
    assert "".join(pieces) == chunks[-1].reply.text


async def test_earlier_turns_travel_along(gate: DirectGate, openai_server: Any) -> None:
    openai_server.says("Still calm.")
    turns = (Message("user", "a"), Message("assistant", "b"), Message("user", "c"))
    await gate.complete(ModelRequest("house:tiny", turns))
    sent = [(m["role"], m["content"]) for m in openai_server.bodies[0]["messages"]]
    assert sent == [("user", "a"), ("assistant", "b"), ("user", "c")]


async def test_a_schema_is_sent_and_the_reply_parsed(gate: DirectGate, openai_server: Any) -> None:
    openai_server.says('{"mood": "calm"}')
    reply = await LadderGate(gate).complete(ask(json_schema=SCHEMA))
    assert reply.data == {"mood": "calm"}
    assert openai_server.bodies[0]["response_format"]["json_schema"]["schema"] == SCHEMA
    assert reply.rungs == (Rung.SCHEMA,)


async def test_a_broken_reply_is_asked_for_in_words_then_repaired(
    gate: DirectGate, openai_server: Any
) -> None:
    openai_server.says('{"mood": "stormy"}')
    openai_server.says('<json>{"mood": "wet"}</json>')
    openai_server.says('{"mood": "wild"}')
    chunks = [chunk async for chunk in LadderGate(gate).stream(ask(json_schema=SCHEMA))]
    assert sum(isinstance(chunk, Restarted) for chunk in chunks) == 2
    last = chunks[-1]
    assert isinstance(last, Finished)
    assert last.reply.data == {"mood": "wild"}
    assert last.reply.rungs == (Rung.SCHEMA, Rung.TAGGED, Rung.REPAIR)
    assert last.reply.usage.output_tokens == 15
    first, tagged, repair = openai_server.bodies
    assert "response_format" in first
    assert "response_format" not in tagged
    assert "<json>" in tagged["messages"][-1]["content"]
    assert repair["messages"][-2]["content"] == '<json>{"mood": "wet"}</json>'
    assert "wet" in repair["messages"][-1]["content"]


async def test_a_server_that_knows_no_schema_is_asked_in_words(
    gate: DirectGate, openai_server: Any
) -> None:
    refusal = {"error": {"message": "This response_format type is unavailable now"}}
    openai_server.fails(400, json.dumps(refusal))
    openai_server.says('<json>{"mood": "calm"}</json>')
    reply = await LadderGate(gate).complete(ask(json_schema=SCHEMA))
    assert (reply.data, reply.rungs) == ({"mood": "calm"}, (Rung.SCHEMA, Rung.TAGGED))
    openai_server.fails(400, json.dumps({"error": {"message": "max_tokens is too large"}}))
    with pytest.raises(ProviderError, match="max_tokens"):
        await LadderGate(gate).complete(ask(json_schema=SCHEMA))


async def test_rubbish_on_every_rung_is_an_error(gate: DirectGate, openai_server: Any) -> None:
    for _ in range(5):
        openai_server.says("I would rather not.")
    with pytest.raises(InvalidReply) as caught:
        await LadderGate(gate).complete(ask(json_schema=SCHEMA))
    assert caught.value.tier is ErrorTier.PERMANENT
    assert caught.value.context["rungs"] == ["schema", "tagged", "repair", "smaller"]
    assert len(openai_server.bodies) == 5


@pytest.mark.parametrize(
    ("status", "tier"),
    [
        (500, ErrorTier.EXTERNAL_DEGRADING),
        (503, ErrorTier.EXTERNAL_DEGRADING),
        (529, ErrorTier.EXTERNAL_DEGRADING),
        (429, ErrorTier.EXTERNAL_RATE_LIMIT),
        (401, ErrorTier.USER_FIXABLE),
        (403, ErrorTier.USER_FIXABLE),
        (404, ErrorTier.PERMANENT),
        (400, ErrorTier.PERMANENT),
    ],
)
async def test_an_http_error_has_status_and_tier_and_is_not_retried(
    gate: DirectGate, openai_server: Any, status: int, tier: ErrorTier
) -> None:
    openai_server.fails(status, json.dumps({"error": {"message": "no"}}))
    with pytest.raises(ProviderError) as caught:
        await gate.complete(ask())
    assert caught.value.status == status
    assert caught.value.tier is tier
    assert Classifier().tier_of(caught.value) is tier
    assert len(openai_server.bodies) == 1


async def test_retry_after_reaches_whoever_retries(gate: DirectGate, openai_server: Any) -> None:
    openai_server.fails(429, "{}", **{"Retry-After": "17", "Set-Cookie": "tracking=1"})
    with pytest.raises(ProviderError) as caught:
        await gate.complete(ask())
    assert caught.value.headers["retry-after"] == "17"
    assert "set-cookie" not in caught.value.headers


async def test_spent_credit_is_for_the_user_to_fix(gate: DirectGate, openai_server: Any) -> None:
    body = {"error": {"message": "quota exceeded", "code": "insufficient_quota"}}
    openai_server.fails(429, json.dumps(body))
    with pytest.raises(ProviderError) as caught:
        await gate.complete(ask())
    assert caught.value.tier is ErrorTier.USER_FIXABLE
    assert caught.value.fix


async def test_an_error_that_quotes_the_key_does_not_leak_it(
    gate: DirectGate, openai_server: Any
) -> None:
    openai_server.fails(401, json.dumps({"error": {"message": f"Incorrect key {SECRET}"}}))
    with pytest.raises(ProviderError) as caught:
        await gate.complete(ask())
    shown = f"{caught.value} {caught.value.record().to_json()} {caught.value.__cause__!r}"
    assert SECRET not in shown
    assert "Incorrect key" in shown


async def test_a_silent_server_is_given_up_and_left(gate: DirectGate, openai_server: Any) -> None:
    openai_server.hangs("The sea ")
    with pytest.raises(ProviderTimeout) as caught:
        await gate.complete(ask(inactivity_seconds=3.0))
    assert caught.value.tier is ErrorTier.TRANSIENT
    assert caught.value.partial == "The sea "
    async with asyncio.timeout(5):
        await openai_server.was_left.wait()


async def test_an_abandoned_stream_hangs_up(gate: DirectGate, openai_server: Any) -> None:
    openai_server.hangs("The sea ")
    async with aclosing(gate.stream(ask())) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextChunk):
                break
    async with asyncio.timeout(5):
        await openai_server.was_left.wait()


async def test_a_cancelled_call_hangs_up(gate: DirectGate, openai_server: Any) -> None:
    openai_server.hangs()
    task = asyncio.create_task(gate.complete(ask()))
    await openai_server.is_hanging.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(5):
        await openai_server.was_left.wait()


async def test_a_dropped_connection_keeps_the_text(gate: DirectGate, openai_server: Any) -> None:
    openai_server.drops_after("The sea is")
    with pytest.raises(ProviderError) as caught:
        await gate.complete(ask())
    assert caught.value.tier is ErrorTier.TRANSIENT
    assert caught.value.partial == "The sea is"
    assert caught.value.record().context["partial"] == "The sea is"


async def test_a_stream_that_merely_ends_is_no_answer(gate: DirectGate, openai_server: Any) -> None:
    openai_server.ends_early("The sea is")
    with pytest.raises(ProviderError) as caught:
        await gate.complete(ask())
    assert caught.value.tier is ErrorTier.TRANSIENT
    assert caught.value.partial == "The sea is"


async def test_a_prompt_too_long_says_so(gate: DirectGate, openai_server: Any) -> None:
    body = {"error": {"message": "maximum context length", "code": "context_length_exceeded"}}
    openai_server.fails(400, json.dumps(body))
    with pytest.raises(PromptTooLong) as caught:
        await gate.complete(ask())
    assert "larger window" in (caught.value.fix or "")


@pytest.mark.parametrize(
    "body",
    [
        b"<html>gateway on holiday</html>",
        b"data: {not json}\n\n",
        b'data: {"choices": "what"}\n\n',
        b"",
        b"\xff\xfe\x00rubbish\n\n",
        b"data: 17\n\n",
    ],
)
async def test_rubbish_is_an_error_not_a_crash(
    gate: DirectGate, openai_server: Any, body: bytes
) -> None:
    openai_server.says_raw(body)
    with pytest.raises(CallboardError) as caught:
        await gate.complete(ask())
    assert isinstance(caught.value, ProviderError)
    assert "house:tiny" in caught.value.message


async def test_nobody_at_home_is_a_degraded_provider(unused_tcp_port: int) -> None:
    configs = {"house": ProviderConfig(base_url=f"http://127.0.0.1:{unused_tcp_port}/v1")}
    gate = DirectGate({}, fallback=RemoteProvider({}, configs))
    with pytest.raises(ProviderError) as caught:
        await gate.complete(ask())
    assert caught.value.tier is ErrorTier.EXTERNAL_DEGRADING
    await gate.close()


@pytest.fixture
def unused_tcp_port() -> int:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai:gpt-4o", "OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-4", "ANTHROPIC_API_KEY"),
        ("google-gla:gemini-2.0-flash", "GOOGLE_API_KEY"),
        ("mistral:mistral-large", "MISTRAL_API_KEY"),
        ("groq:llama-3.3-70b", "GROQ_API_KEY"),
        ("house:tiny", "HOUSE_KEY"),
    ],
)
async def test_a_missing_key_names_its_variable(model: str, variable: str) -> None:
    configs = {"house": ProviderConfig(base_url="http://127.0.0.1:9/v1", api_key_env="HOUSE_KEY")}
    gate = DirectGate({}, fallback=RemoteProvider({}, configs))
    with pytest.raises(MissingKey) as caught:
        await gate.complete(ModelRequest(model, (Message("user", "hi"),)))
    assert caught.value.tier is ErrorTier.USER_FIXABLE
    assert variable in caught.value.message
    assert variable in (caught.value.fix or "")


@pytest.mark.parametrize(
    "model",
    ["anthropic:claude-sonnet-4", "google-gla:gemini-2.0-flash", "mistral:large", "groq:llama"],
)
async def test_known_providers_are_reached_at_a_configured_address(
    openai_server: Any, model: str
) -> None:
    """Their protocols differ; that the request arrives and its failure is sorted, is the point."""
    name = model.partition(":")[0]
    configs = {name: ProviderConfig(base_url=openai_server.url, api_key_env="KEY")}
    gate = DirectGate({}, fallback=RemoteProvider({"KEY": SECRET}, configs))
    openai_server.fails(503, json.dumps({"error": {"message": "down", "code": 503}}))
    with pytest.raises(ProviderError) as caught:
        await gate.complete(ModelRequest(model, (Message("user", "hi"),)))
    assert caught.value.tier is ErrorTier.EXTERNAL_DEGRADING
    assert len(openai_server.bodies) == 1
    await gate.close()


@pytest.mark.parametrize("model", ["openai:tiny", "ollama:tiny"])
async def test_openai_and_ollama_answer_at_a_configured_address(
    openai_server: Any, model: str
) -> None:
    name = model.partition(":")[0]
    configs = {name: ProviderConfig(base_url=openai_server.url)}
    gate = DirectGate({}, fallback=RemoteProvider({}, configs))
    openai_server.says("Here.")
    reply = await gate.complete(ModelRequest(model, (Message("user", "hi"),)))
    assert (reply.text, reply.model) == ("Here.", model)
    await gate.close()


async def test_an_address_without_key_never_gets_another_providers_key(
    openai_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    configs = {"stranger": ProviderConfig(base_url=openai_server.url)}
    gate = DirectGate({}, fallback=RemoteProvider({"OPENAI_API_KEY": SECRET}, configs))
    openai_server.says("Hello.")
    await gate.complete(ModelRequest("stranger:x", (Message("user", "hi"),)))
    assert SECRET not in str(openai_server.headers)
    await gate.close()


@pytest.mark.req("LLM-10")
async def test_an_alias_stands_for_its_model_in_the_request_and_in_the_reply(
    openai_server: Any,
) -> None:
    config = ProviderConfig(base_url=openai_server.url, aliases={"fast": "tiny-2"})
    gate = DirectGate({}, fallback=RemoteProvider({}, {"house": config}))
    openai_server.says("Hello.")
    reply = await gate.complete(ModelRequest("house:fast", (Message("user", "hi"),)))
    assert openai_server.bodies[0]["model"] == "tiny-2"
    assert reply.model == "house:tiny-2"
    await gate.close()


async def test_an_unknown_provider_is_named() -> None:
    gate = DirectGate({}, fallback=RemoteProvider({}))
    with pytest.raises(UnknownModel, match="nowhere:x"):
        await gate.complete(ModelRequest("nowhere:x", (Message("user", "hi"),)))


async def test_a_refused_client_is_closed_at_once(
    gate: DirectGate, openai_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[Any] = []
    leave = Provider.__aexit__

    async def note(provider: Any, *how: Any) -> bool | None:
        closed.append(provider)
        return await leave(provider, *how)

    monkeypatch.setattr(Provider, "__aexit__", note)
    for number in (1, 2, 3):
        openai_server.fails(401, "{}")
        with pytest.raises(ProviderError):
            await gate.complete(ask())
        assert len(closed) == number
    openai_server.says("The sea is calm today.")
    assert (await gate.complete(ask())).text == "The sea is calm today."
    assert len(closed) == 3
