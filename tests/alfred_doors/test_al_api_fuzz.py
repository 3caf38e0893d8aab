"""Every door of Alfred, fuzzed from its own description: no 500, no other shape."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from al_door_stage import Household, pick
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.core import NOT_SET
from schemathesis.generation import GenerationMode
from schemathesis.openapi import from_dict
from schemathesis.specs.openapi.checks import response_schema_conformance

from callboard.api.app import create_app
from callboard.models import Script

API = from_dict(create_app(Path("described, never opened")).openapi())
OPERATIONS = {
    f"{found.ok().method.upper()} {found.ok().path}": found.ok()
    for found in API.get_all_operations()
    if found.ok().path.startswith("/api/alfred")
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    household = Household.build(tmp_path_factory.mktemp("fuzz") / "kitchen")
    app = create_app(household.root, household.opening(Script(pick)))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as opened:
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
    operation = OPERATIONS[name]

    @settings(
        max_examples=3,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: schemathesis.Case) -> None:
        response = client.request(
            case.method,
            _path(case, session_id),
            params=_for_the_owner(case),
            headers={str(k): str(v) for k, v in (case.headers or {}).items() if _is_sendable(v)},
            **_body(case),
        )
        case.validate_response(response, checks=[not_a_server_error, response_schema_conformance])

    try:
        ask()
    except Unsatisfiable:
        # Some operations take nothing that could be wrong.
        assert mode is GenerationMode.NEGATIVE


def _path(case: schemathesis.Case, session_id: str) -> str:
    """Half of the doors are about a conversation; a random one would only ever not be there."""
    others = dict(case.path_parameters or {})
    known = case.path.replace("{session_id}", session_id).replace("{table}", "recipes")
    return known.replace("{turn}", str(others.get("turn", 1)))


def _for_the_owner(case: schemathesis.Case) -> dict[str, Any]:
    """Nobody called by a random name cooks here; that alone would hide what lies behind."""
    return {name: value for name, value in (case.query or {}).items() if name != "user_id"}


def _body(case: schemathesis.Case) -> dict[str, Any]:
    if case.body is NOT_SET:
        return {}
    if isinstance(case.body, bytes):
        return {"content": case.body}
    if isinstance(case.body, dict):
        body: dict[str, Any] = dict(case.body)
        if "question" not in body and "timezone" not in body:
            body.pop("user_id", None)
        return {"json": body}
    return {"json": case.body}


def _is_sendable(value: object) -> bool:
    return str(value).isascii() and str(value).isprintable()
