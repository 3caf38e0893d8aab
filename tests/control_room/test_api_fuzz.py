"""Every operation of the API, fuzzed from its own description: never a 500, never another shape."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from control_room_stage import Theatre, staff
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
# Streams have no end that a fuzzer could wait for; the factory is fuzzed on a book of its own.
OPERATIONS = {
    f"{found.ok().method.upper()} {found.ok().path}": found.ok()
    for found in API.get_all_operations()
    if not found.ok().path.endswith("/events") and not found.ok().path.startswith("/api/factory")
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    theatre = Theatre.build(tmp_path_factory.mktemp("fuzz") / "fortress")
    app = create_app(theatre.root, theatre.opening(Script(staff())))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as opened:
        yield opened


def test_there_is_something_to_fuzz() -> None:
    assert len(OPERATIONS) > 35


@pytest.mark.req("CR-174")
@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize("name", OPERATIONS)
def test_no_request_breaks_the_server(name: str, mode: GenerationMode, client: TestClient) -> None:
    operation = OPERATIONS[name]

    @settings(
        max_examples=5,
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
            case.formatted_path,
            params=dict(case.query or {}),
            headers={str(k): str(v) for k, v in (case.headers or {}).items() if _is_sendable(v)},
            **_body(case),
        )
        case.validate_response(response, checks=[not_a_server_error, response_schema_conformance])

    try:
        ask()
    except Unsatisfiable:
        # Some operations take nothing that could be wrong.
        assert mode is GenerationMode.NEGATIVE


def _body(case: schemathesis.Case) -> dict[str, Any]:
    if case.body is NOT_SET:
        return {}
    if isinstance(case.body, bytes):
        return {"content": case.body}
    return {"json": case.body}


def _is_sendable(value: object) -> bool:
    return str(value).isascii() and str(value).isprintable()
