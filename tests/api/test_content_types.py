"""What an operation answers is of the type its description names, errors included."""

import pytest
from front_door import House

pytestmark = pytest.mark.anyio

FILES = {
    "/api/alfred/calendar.ics": "text/calendar",
    "/api/alfred/shopping.txt": "text/plain",
    "/api/alfred/recipes/export": "application/json",
}


async def test_files_are_of_the_type_that_is_described(house: House) -> None:
    async with house.serve() as door:
        described = (await door.client.get("/api/openapi.json")).json()["paths"]
        for path, kind in FILES.items():
            responses = described[path]["get"]["responses"]
            assert list(responses["200"]["content"]) == [kind]
            answer = await door.client.get(path)
            assert answer.status_code == 200, answer.text
            assert answer.headers["content-type"].partition(";")[0] == kind
            refused = await door.client.get(path, params={"user_id": "x" * 200})
            assert refused.status_code == 400
            assert refused.headers["content-type"] in responses["400"]["content"]


async def test_every_error_is_described_as_json(house: House) -> None:
    async with house.serve() as door:
        described = (await door.client.get("/api/openapi.json")).json()["paths"]
        kinds = {
            kind
            for item in described.values()
            for operation in item.values()
            for status, response in operation["responses"].items()
            if status >= "4"
            for kind in response["content"]
        }
        assert kinds == {"application/json"}
