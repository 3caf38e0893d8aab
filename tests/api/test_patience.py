"""Whoever keeps a connection and sends nothing loses it; whoever listens keeps it."""

import asyncio
import json

import pytest
from front_door import House, Wire

from callboard.api.bodies import PATIENCE, Capacity, Patience

pytestmark = pytest.mark.anyio

SHORT = Patience(head_seconds=0.05, rest_seconds=0.05)
PLAIN = "GET /api/health HTTP/1.1\nHost: localhost\n"


async def answered(wire: Wire) -> None:
    """Read one whole answer."""
    head = await wire.reader.readuntil(b"\r\n\r\n")
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-len"))
    await wire.reader.readexactly(int(length.split(b":")[1]))


@pytest.mark.parametrize("sent", ["", "G", PLAIN, PLAIN + "X-Slow: "])
async def test_half_a_request_is_not_waited_for(house: House, sent: str) -> None:
    async with house.serve(SHORT) as door, door.connection() as wire:
        wire.send(sent)
        assert await wire.to_the_end() == b""


async def test_a_trickle_is_no_progress(house: House) -> None:
    async with house.serve(SHORT) as door, door.connection() as wire:
        ended = asyncio.create_task(wire.to_the_end())
        number = 0
        wire.send(PLAIN)
        while not ended.done():
            number += 1
            wire.send(f"X-{number}: 1\n")
            await asyncio.wait({ended}, timeout=0.01)
        assert await ended == b""


async def test_the_second_request_of_a_connection_is_waited_for_no_longer(house: House) -> None:
    async with house.serve(SHORT) as door, door.connection() as wire:
        wire.send(PLAIN + "\n")
        await answered(wire)
        wire.send("GET /api/hea")
        assert await wire.to_the_end() == b""


async def test_a_kept_connection_is_answered_at_once(house: House) -> None:
    loop = asyncio.get_running_loop()
    async with house.serve() as door, door.connection() as wire:
        took: list[float] = []
        for _ in range(20):
            began = loop.time()
            wire.send(PLAIN + "\n")
            await answered(wire)
            took.append(loop.time() - began)
    # Held back until the head of the answer is confirmed, every body would take 40 ms.
    assert min(took[5:]) < 0.03


async def test_a_whole_request_in_pieces_is_answered(house: House) -> None:
    async with house.serve() as door, door.connection() as wire:
        for _ in range(3):
            for piece in (PLAIN[:10], PLAIN[10:], "\n"):
                wire.send(piece)
                await wire.writer.drain()
            await answered(wire)


async def test_who_listens_is_kept(house: House) -> None:
    """A stream of events goes on although the client sends nothing more."""
    async with house.serve(SHORT) as door, door.connection() as wire:
        wire.send("GET /api/events HTTP/1.1\nHost: localhost\n\n")
        assert await wire.status() == 200
        for name in ("first", "second"):
            for _ in range(3):
                await door.client.get("/api/runs")
                async with door.connection() as other:
                    # As long as this one is waited for, and longer than a request may take.
                    await other.to_the_end()
            await door.client.post("/api/sessions", json={"name": name})
            line = b""
            while not line.startswith(b"data:") or name.encode() not in line:
                line = await wire.reader.readuntil(b"\n")
            assert json.loads(line.removeprefix(b"data: "))["type"]


async def test_clients_close_their_connections_before_the_server_does() -> None:
    """A request under way while the server closes is lost; common clients wait up to a minute."""
    assert PATIENCE.keep_alive_seconds > 60


async def test_one_too_many_is_told_to_come_again() -> None:
    let_go, inside = asyncio.Event(), asyncio.Event()
    sent: list[dict[str, object]] = []

    async def app(_scope: object, _receive: object, _send: object) -> None:
        inside.set()
        await let_go.wait()

    async def receive() -> dict[str, object]:
        return {"type": "http.request"}

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    capacity = Capacity(app, most=1)
    scope = {"type": "http", "path": "/api/runs", "method": "GET", "headers": []}
    first = asyncio.create_task(capacity(scope, receive, send))
    await inside.wait()
    await capacity(scope, receive, send)
    assert sent[0]["status"] == 503
    assert (b"retry-after", b"2") in sent[0]["headers"]
    let_go.set()
    await first
    sent.clear()
    await capacity(scope, receive, send)
    assert not sent
