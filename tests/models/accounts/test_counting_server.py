"""200 calls at once to a real HTTP server: the ledger holds what the server itself counted."""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from callboard.core.errors import ProviderError
from callboard.models import DirectGate, ProviderConfig, RemoteProvider
from callboard.models.accounts import BudgetGate, Limits, MeterGate, Scope, list_calls
from stores import ON_A_FILE

pytestmark = pytest.mark.anyio

CALLS = 200


@dataclass
class CountingServer:
    """Bills every answer it streams; every tenth request it refuses, without a bill."""

    url: str = ""
    billed: Counter[str] = field(default_factory=Counter)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
            body = json.loads(await reader.readexactly(length))
            number = int(body["messages"][-1]["content"].split()[-1])
            self.billed["requests"] += 1
            answer = self._refusal() if number % 10 == 0 else self._answer(number)
            writer.write(answer)
            await writer.drain()
        writer.close()

    def _answer(self, number: int) -> bytes:
        given, said, cached = number % 17 + 5, number % 7 + 1, number % 5
        self.billed.update({"given": given, "said": said, "cached": cached})
        usage = {
            "prompt_tokens": given,
            "completion_tokens": said,
            "total_tokens": given + said,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        chunks: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": {"content": f"answer {number}"}}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": usage},
        ]
        base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "tiny"}
        events = [f"data: {json.dumps({**base, **chunk})}\n\n" for chunk in chunks]
        return _http("200 OK", "text/event-stream", "".join(events) + "data: [DONE]\n\n")

    def _refusal(self) -> bytes:
        return _http("500 Broken", "application/json", '{"error": {"message": "broken"}}')


def _http(status: str, kind: str, text: str) -> bytes:
    data = text.encode()
    head = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: {kind}\r\n"
    return f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data


@pytest.fixture
async def server() -> AsyncIterator[CountingServer]:
    counting = CountingServer()
    listening = await asyncio.start_server(counting.serve, "127.0.0.1", 0, backlog=CALLS)
    port = listening.sockets[0].getsockname()[1]
    counting.url = f"http://127.0.0.1:{port}/v1"
    yield counting
    listening.close()
    await listening.wait_closed()


@ON_A_FILE
@pytest.mark.req("LLM-63", "LLM-64")
async def test_the_ledger_sums_up_to_what_the_server_counted(
    house: Any, ask: Any, server: CountingServer
) -> None:
    remote = RemoteProvider({}, {"house": ProviderConfig(base_url=server.url)})
    gate = BudgetGate(MeterGate(DirectGate({"house": remote}), house.accounts), house.accounts)
    run = Scope.parse("run:run_1")
    await house.accounts.set_limits(run, Limits(tokens=1_000_000, calls=CALLS))
    requests = [
        ask(f"this is call {n}", model="house:tiny", session_id=f"sess_{n % 4}")
        for n in range(CALLS)
    ]
    replies = await asyncio.gather(
        *(gate.complete(request) for request in requests), return_exceptions=True
    )
    await gate.close()
    assert sum(isinstance(reply, ProviderError) for reply in replies) == CALLS // 10
    assert [reply.text for n, reply in enumerate(replies) if n % 10] == [  # type: ignore[union-attr]
        f"answer {n}" for n in range(CALLS) if n % 10
    ]
    calls = house.database.read(list_calls)
    assert (
        Counter(
            {
                "requests": sum(call.requests for call in calls),
                "given": sum(call.usage.input_tokens for call in calls),
                "said": sum(call.usage.output_tokens for call in calls),
                "cached": sum(call.usage.cached_tokens for call in calls),
            }
        )
        == server.billed
    )
    assert not any(call.is_estimated for call in calls)
    (kept,) = house.rows("SELECT * FROM budgets WHERE scope = 'run:run_1'")
    assert kept["spent_tokens"] == server.billed["given"] + server.billed["said"]
    assert kept["spent_calls"] == server.billed["requests"] == CALLS
    assert house.rows("SELECT * FROM reservations") == []
