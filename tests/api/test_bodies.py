"""What a request brings is limited, by what it says and by what comes, and the limit is told."""

from collections.abc import AsyncIterator

import psutil
import pytest
from front_door import House

from callboard.api.bodies import DEFAULT_BYTES, MOST_ENTRIES, Patience

pytestmark = pytest.mark.anyio

IMPORT = "/api/alfred/recipes/import"
IMPORT_BYTES = 6_000_000


async def test_a_body_is_refused_by_its_length_before_it_is_read(house: House) -> None:
    async with house.serve() as door, door.connection() as wire:
        wire.send(
            "POST /api/route HTTP/1.1\nHost: localhost\nX-Callboard: 1\n"
            f"Content-Length: {DEFAULT_BYTES + 1}\n\n"
        )
        # None of it has been sent.
        assert await wire.status() == 413
        told = b""
        while b"limit_bytes" not in told:
            told += await wire.reader.read(4096)
        assert str(DEFAULT_BYTES).encode() in told and b"body_too_large" in told


async def test_a_body_without_a_length_is_counted_as_it_comes(house: House) -> None:
    sent = 0

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 400_000_000:
            sent += 1_000_000
            yield b" " * 1_000_000

    async with house.serve() as door:
        before = psutil.Process().memory_info().rss
        refused = await door.client.post("/api/route", content=pieces())
        assert refused.status_code == 413
        assert refused.json()["error"]["details"]["limit_bytes"] == DEFAULT_BYTES
        assert psutil.Process().memory_info().rss - before < 50_000_000
        # The connection serves on.
        assert (await door.client.get("/api/health")).status_code == 200


async def test_a_route_that_takes_texts_takes_more(house: House) -> None:
    async with house.serve() as door:
        body = {"text": "x" * (DEFAULT_BYTES + 1), "kind": "text"}
        read = await door.client.post(IMPORT, json=body)
        # It got as far as the reader, which found no recipe in it.
        assert read.status_code == 400 and "recipe" in read.json()["error"]["message"], read.text
        assert (await door.client.post("/api/route", json=body)).status_code == 413
        longer = await door.client.post(IMPORT, json={"text": "x" * IMPORT_BYTES})
        assert longer.status_code == 413
        assert longer.json()["error"]["details"]["limit_bytes"] == IMPORT_BYTES
        other = await door.client.post(f"{IMPORT}/x", json=body)
        assert other.status_code == 413


@pytest.mark.parametrize(
    "body",
    [
        "[" + "1," * MOST_ENTRIES + "1]",
        '{"text": [' + "{}," * MOST_ENTRIES + "{}]}",
        "{" + ",".join(f'"{number}": 1' for number in range(MOST_ENTRIES + 1)) + "}",
        '["\\\\",' + "1," * MOST_ENTRIES + '"\\""]',
        "[" * (MOST_ENTRIES + 1),
    ],
)
async def test_entries_are_counted_before_they_are_read(house: House, body: str) -> None:
    async with house.serve() as door:
        headers = {"Content-Type": "application/json"}
        refused = await door.client.post(IMPORT, content=body, headers=headers)
        assert refused.status_code == 413, refused.text
        assert refused.json()["error"]["details"]["limit_entries"] == MOST_ENTRIES


async def test_marks_within_a_text_are_text(house: House) -> None:
    async with house.serve() as door:
        text = '[{"\\,' * MOST_ENTRIES
        read = await door.client.post(IMPORT, json={"text": text, "kind": "text"})
        assert read.status_code == 200, read.text


async def test_a_body_that_does_not_come_is_not_waited_for(house: House) -> None:
    patience = Patience(body_seconds=0.05, rest_seconds=0.05, slowest_bytes_a_second=10**9)
    async with house.serve(patience) as door, door.connection() as wire:
        wire.send(
            "POST /api/route HTTP/1.1\nHost: localhost\nX-Callboard: 1\nContent-Length: 9\n\n{"
        )
        assert await wire.status() == 408
        # What is left of it is not waited for either.
        assert b"body_too_slow" in await wire.to_the_end()


async def test_strangers_are_sent_away_before_their_body_is_read(house: House) -> None:
    async with house.serve() as door, door.connection() as wire:
        wire.send("POST /api/route HTTP/1.1\nHost: evil.example\nContent-Length: 9\n\n")
        assert await wire.status() == 403
