"""A real HTTP server that speaks OpenAI's chat protocol, well or badly."""

from collections.abc import AsyncIterator

import pytest

from callboard.testing.openai_server import OpenAIServer


@pytest.fixture
async def openai_server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer.listening() as server:
        yield server
