"""What an answer promises is what the value behind it has, field by field."""

from typing import Any

import pytest
from front_door import House

from callboard.api.project import promise
from callboard.core.vocabulary import Issue

pytestmark = pytest.mark.anyio


async def test_an_issue_is_promised_whole_and_answered_so(house: House) -> None:
    async with house.serve() as door:
        described: Any = (await door.client.get("/api/openapi.json")).json()
        shape = described["components"]["schemas"]["IssueShape"]
        made = await door.client.post("/api/issues", json={"title": "The door sticks"})
    assert made.status_code == 201, made.text
    assert set(shape["properties"]) == set(shape["required"]) == set(made.json())
    assert shape["properties"]["created_at"]["type"] == "string"


def test_what_is_left_out_is_not_promised_and_what_is_told_otherwise_is() -> None:
    shape = promise("IssueName", "An issue's name.", Issue, leave=["source"], created_at=str)
    assert "source" not in shape.model_fields
    assert shape.model_fields["created_at"].annotation is str
    assert shape.model_fields["title"].is_required()
