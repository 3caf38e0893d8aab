"""Every door of Alfred, fuzzed from its own description: no 500, no other shape."""

from collections.abc import Iterator
from typing import Any

import pytest
from al_door_stage import Household, pick
from fastapi.testclient import TestClient
from schemathesis.generation import GenerationMode

from callboard.api.app import create_app
from callboard.models import Script
from door_fuzz import Case, Fuzz, body_of, operations, query_of
from door_server import client_of

OPERATIONS = operations(lambda path: path.startswith("/api/alfred"))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    household = Household.build(tmp_path_factory.mktemp("fuzz") / "kitchen")
    app = create_app(household.root, household.opening(Script(pick)))
    with client_of(app) as opened:
        assert opened.post("/api/alfred/seed").status_code == 200
        yield opened


@pytest.fixture(scope="module")
def session_id(client: TestClient) -> str:
    begun = client.post("/api/alfred/sessions", json={"mode": "quick"}).json()
    path = f"/api/alfred/sessions/{begun['session_id']}/messages"
    said = client.post(path, json={"message": "add eggs to the shopping list"})
    assert said.status_code == 200, said.text
    return str(begun["session_id"])


def test_there_is_something_to_fuzz() -> None:
    assert len(OPERATIONS) > 20


@pytest.mark.req("AL-156")
@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize("name", OPERATIONS)
def test_no_request_breaks_the_kitchen(
    name: str, mode: GenerationMode, client: TestClient, session_id: str
) -> None:
    def path(case: Case) -> str:
        """Half of the doors are about a conversation; a random one would only ever not be there."""
        others = dict(case.path_parameters or {})
        known = case.path.replace("{session_id}", session_id).replace("{table}", "recipes")
        return known.replace("{turn}", str(others.get("turn", 1)))

    Fuzz(3, path, _for_the_owner, _body).hold(client, OPERATIONS[name], mode)


def _for_the_owner(case: Case) -> dict[str, Any]:
    """Nobody called by a random name cooks here; that alone would hide what lies behind."""
    return {name: value for name, value in query_of(case).items() if name != "user_id"}


def _body(case: Case) -> dict[str, Any]:
    """The same for a body, unless it is about who cooks here."""
    sent = body_of(case)
    body = sent.get("json")
    if not isinstance(body, dict) or "question" in body or "timezone" in body:
        return sent
    return {"json": {name: value for name, value in body.items() if name != "user_id"}}
