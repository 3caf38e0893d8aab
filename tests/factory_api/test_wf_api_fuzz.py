"""Every door of Writers Factory, fuzzed from its own description: no 500, no other shape."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from factory_door_stage import BLOCKED, SCENE, Shop, staff, write_book
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
    if found.ok().path.startswith("/api/factory")
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    shop = Shop.build(tmp_path_factory.mktemp("fuzz") / "salt")
    app = create_app(shop.root, shop.opening(Script(staff())))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as opened:
        assert opened.portal is not None
        opened.portal.call(write_book, app.state.factory, SCENE, BLOCKED)
        opened.post("/api/factory/mode", json={"to": "EDITOR"})
        moved = opened.post("/api/factory/mode", json={"to": "EDITOR", "override": True})
        assert moved.status_code == 200, moved.text
        yield opened


def test_there_is_something_to_fuzz() -> None:
    assert len(OPERATIONS) > 90


@pytest.mark.req("WF-G85")
@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize("name", OPERATIONS)
def test_no_request_breaks_the_factory(name: str, mode: GenerationMode, client: TestClient) -> None:
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
            # Half of the doors are about a scene; a random name would only ever find none.
            _path(case),
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


def _path(case: schemathesis.Case) -> str:
    if "{scene_id}" not in case.path:
        return case.formatted_path
    known = case.path.replace("{scene_id}", "ch1-sc2")
    others = dict(case.path_parameters or {})
    return known.replace("{number}", str(others.get("number", 1)))


def _body(case: schemathesis.Case) -> dict[str, Any]:
    if case.body is NOT_SET:
        return {}
    if isinstance(case.body, bytes):
        return {"content": case.body}
    return {"json": case.body}


def _is_sendable(value: object) -> bool:
    return str(value).isascii() and str(value).isprintable()
