"""A rate limit belongs to a credential: provider and key. Nobody else waits for it."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from callboard.core.events import LimitPaused
from callboard.models import Message, ModelRequest, Secret, Working
from callboard.models.catalog import provider_of, sent_model
from callboard.models.traffic.limit_state import Credential, credentials_of
from callboard.store.journal.events import read_events
from callboard.testing.openai_server import OpenAIServer, http_error, reply

pytestmark = pytest.mark.anyio

KEYS = {"openai": "sk-one", "openai-chat": "sk-one", "house": "sk-two"}


def asking(model: str, **more: Any) -> ModelRequest:
    return ModelRequest(model, (Message("user", "How is the sea?"),), **more)


async def key_of(model: str) -> Secret | None:
    key = KEYS.get(provider_of(model))
    return None if key is None else Secret(key)


async def test_a_credential_is_a_provider_with_its_key_which_it_does_not_give_away() -> None:
    credential_of = credentials_of(key_of, without_key=("script", "replay"))
    openai = await credential_of(asking("openai:gpt-4o"))
    assert openai == await credential_of(asking("openai-chat:gpt-4o-mini"))
    assert openai != await credential_of(asking("house:gpt-4o"))
    assert openai.provider == "openai"
    assert openai.fingerprint
    assert "sk-one" not in f"{openai} {openai.key} {openai.label}"
    assert Credential.from_key(openai.key) == openai
    assert await credential_of(asking("script:x.yaml")) == Credential("script")
    assert await credential_of(asking("nokey:m")) == Credential("nokey")


@pytest.mark.parametrize(
    ("model", "sent", "provider"),
    [
        ("openai:gpt-4o", "openai:gpt-4o", "openai"),
        ("record:a.jsonl:openai:gpt-4o", "openai:gpt-4o", "openai"),
        ("record:C:/a.jsonl:record:b.jsonl:house:m", "house:m", "house"),
        ("replay:a.jsonl:openai:gpt-4o", "replay:a.jsonl:openai:gpt-4o", "replay"),
        ("record:a.jsonl:replay:b.jsonl:openai:m", "replay:b.jsonl:openai:m", "replay"),
        ("local", "local", "local"),
    ],
)
async def test_a_recorded_call_uses_the_credential_of_its_model_and_a_replayed_one_none(
    model: str, sent: str, provider: str
) -> None:
    assert (sent_model(model), provider_of(model)) == (sent, provider)
    credential_of = credentials_of(key_of, without_key=("local", "replay"))
    assert await credential_of(asking(model)) == await credential_of(asking(sent))


async def paused(studio: Any) -> list[LimitPaused]:
    await studio.database.write(lambda _connection: None)
    events = studio.database.read(read_events)
    return [event.body for event in events if isinstance(event.body, LimitPaused)]


def settings(url: str) -> dict[str, Any]:
    own = {"base_url": url, "api_key_env": "OPENAI_API_KEY"}
    return {"models": {"default": "openai:tiny", "providers": {"openai": own}}}


async def test_a_429_pauses_one_key_for_every_process_and_session_and_no_other_key(
    open_house: Any, openai_server: OpenAIServer
) -> None:
    flags = settings(openai_server.url)
    one, two = {"OPENAI_API_KEY": "sk-limited"}, {"OPENAI_API_KEY": "sk-free"}
    openai_server.answers.append(http_error(429, '{"error": {}}', **{"Retry-After": "3600"}))
    openai_server.standing = reply("Calm.")
    async with (
        open_house(keys=one, **flags) as first,
        open_house(keys=one, **flags) as neighbour,
        open_house(keys=two, **flags) as other,
    ):
        waiting = asyncio.create_task(first.gate.complete(asking("openai:tiny")))
        while not (told := await paused(first)):
            await asyncio.sleep(0)
        assert not waiting.done()
        # Another key of the same provider goes on.
        assert (await other.gate.complete(asking("openai:tiny"))).text == "Calm."
        # The same key waits, in another process and another session as well.
        async with aclosing(
            neighbour.gate.stream(asking("openai:other", session_id="sess_2"))
        ) as chunks:
            assert isinstance(await anext(chunks), Working)
        waiting.cancel()
        await asyncio.wait([waiting])
    assert len(openai_server.bodies) == 2
    (body,) = told
    assert body.provider == "openai"
    assert body.credential.startswith("openai (key ")
    assert "sk-limited" not in repr(body)


async def test_a_retry_is_not_sent_into_a_pause_that_another_call_has_met_meanwhile(
    open_house: Any, openai_server: OpenAIServer
) -> None:
    flags = settings(openai_server.url)
    flags["errors"] = {"retry": {"external_degrading": {"initial_delay_seconds": 0.05}}}
    is_asked = asyncio.Event()

    async def fails_late(writer: asyncio.StreamWriter) -> None:
        is_asked.set()
        while not told:
            await asyncio.sleep(0.01)
        await http_error(503, "{}")(writer)

    told: list[LimitPaused] = []
    openai_server.answers.append(fails_late)
    openai_server.answers.append(http_error(429, "{}", **{"Retry-After": "3600"}))
    async with open_house(keys={"OPENAI_API_KEY": "sk-x"}, **flags) as studio:
        gate = studio.gate
        troubled = asyncio.create_task(gate.complete(asking("openai:tiny")))
        await is_asked.wait()
        limited = asyncio.create_task(gate.complete(asking("openai:tiny")))
        while not told:
            told += await paused(studio)
            await asyncio.sleep(0)
        requeued = 0
        while requeued < 2:
            await studio.database.write(lambda _connection: None)
            events = [event.body.type for event in studio.database.read(read_events)]
            requeued = events.count("call.requeued")
            await asyncio.sleep(0)
        for task in (troubled, limited):
            assert not task.done()
            task.cancel()
        await asyncio.wait([troubled, limited])
    assert len(openai_server.bodies) == 2, "the retry waits in the queue instead"
