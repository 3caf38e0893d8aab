"""Many first calls at once share one connection."""

import asyncio
from typing import Any

import pytest

from callboard.models import DirectGate, Message, ModelRequest, ProviderConfig, RemoteProvider
from callboard.testing.openai_server import OpenAIServer, reply

pytestmark = pytest.mark.anyio


class Counting(RemoteProvider):
    """Counts the clients it builds."""

    built = 0

    def _build(self, model_id: str) -> Any:
        self.built += 1
        return super()._build(model_id)


async def test_many_first_calls_build_one_client(openai_server: OpenAIServer) -> None:
    openai_server.standing = reply("The sea is calm.")
    provider = Counting({}, {"house": ProviderConfig(base_url=openai_server.url)})
    gate = DirectGate({}, fallback=provider)
    request = ModelRequest("house:tiny", (Message("user", "How is the sea?"),))
    replies = await asyncio.gather(*(gate.complete(request) for _ in range(20)))
    assert {each.text for each in replies} == {"The sea is calm."}
    assert provider.built == 1
    await gate.close()
