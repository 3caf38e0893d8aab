"""While one request is worked on, others are answered."""

import asyncio

import pytest
from front_door import House

from callboard.api.app import create_app
from callboard.core.vocabulary import RunRecord, RunState
from callboard.store.connection import Connection
from callboard.store.journal.runs import insert_run
from callboard.studio.studio import Studio

pytestmark = pytest.mark.anyio

LONG = "Soup\n" + "1 1/2 cups of very fresh milk, cold\n" * 5_000


async def test_others_are_answered_while_a_long_text_is_read(house: House) -> None:
    async with house.serve() as door:
        short = {"text": LONG[:200], "kind": "text"}
        path = "/api/alfred/recipes/import"
        assert (await door.client.post(path, json=short)).status_code == 200
        reading = asyncio.create_task(door.client.post(path, json={"text": LONG, "kind": "text"}))
        answered = 0
        while not reading.done():
            assert (await door.client.get("/api/health")).status_code == 200
            answered += 1
        assert (await reading).status_code == 200
        # Were it read where requests are answered, the others would have waited for its end.
        assert answered > 4


def test_a_server_that_has_begun_has_its_routes_ready(house: House) -> None:
    app = create_app(house.root, house.opening())
    app.state.pack_routes.include_all()
    app.warm_up()
    described = app.openapi()
    assert len(described["paths"]) > 100
    named = {"$ref": "#/components/schemas/ErrorBody"}
    refused = described["paths"]["/api/route"]["post"]["responses"]["413"]
    assert refused["content"] == {"application/json": {"schema": named}}
    assert "ErrorDetail" in described["components"]["schemas"]


def _insert_runs(connection: Connection) -> None:
    session = connection.execute("SELECT id FROM sessions").fetchone()["id"]
    args = {"recipe": "r", "task": "t" * 200}
    for number in range(20_000):
        made = RunRecord(f"run_{number:026d}", session, "control_room/r", RunState.DONE, args=args)
        insert_run(connection, made)


async def test_others_are_answered_while_a_long_list_is_read(house: House) -> None:
    async with house.serve() as door:
        assert (await door.client.post("/api/sessions", json={})).status_code == 201
        async with Studio.open(house.root, house.opening()) as studio:
            await studio.database.write(_insert_runs)
        reading = asyncio.create_task(door.client.get("/api/runs", params={"limit": 1}))
        answered = 0
        while not reading.done():
            assert (await door.client.get("/api/health")).status_code == 200
            answered += 1
        read = await reading
        assert (read.status_code, read.headers["x-total-count"]) == (200, "20000")
        # Were it read where requests are answered, the others would have waited for its end.
        assert answered > 12
