"""Fuzzing the API from its own description: whatever is sent, never a 500, never another shape."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.core import NOT_SET
from schemathesis.generation import GenerationMode
from schemathesis.openapi import from_dict
from schemathesis.specs.openapi.checks import response_schema_conformance

from callboard.api.app import create_app
from door_server import CHANGES

Case = schemathesis.Case
_APP = create_app(Path("described, never opened"))
_APP.state.pack_routes.include_all()
_API = from_dict(_APP.openapi())


def operations(is_wanted: Callable[[str], bool]) -> dict[str, Any]:
    """Return the operations of some paths, each under its method and path."""
    found = [each.ok() for each in _API.get_all_operations()]
    return {f"{each.method.upper()} {each.path}": each for each in found if is_wanted(each.path)}


def path_of(case: Case) -> str:
    """Return the path as it was made up."""
    return case.formatted_path


def query_of(case: Case) -> dict[str, Any]:
    """Return the query as it was made up."""
    return dict(case.query or {})


def body_of(case: Case) -> dict[str, Any]:
    """Return the body as it was made up, as a client sends it."""
    if case.body is NOT_SET:
        return {}
    return {"content" if isinstance(case.body, bytes) else "json": case.body}


@dataclass(frozen=True)
class Fuzz:
    """How requests are made of what a fuzzer thinks up, and how many."""

    examples: int
    path: Callable[[Case], str] = path_of
    query: Callable[[Case], dict[str, Any]] = query_of
    body: Callable[[Case], dict[str, Any]] = body_of

    def hold(self, client: TestClient, operation: Any, mode: GenerationMode) -> None:
        """Send requests to an operation and hold every answer against its description."""

        @settings(
            max_examples=self.examples,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: Case) -> None:
            # Without its header for changes a request would not get as far as the route.
            made_up = [each for each in (case.headers or {}).items() if each[0] not in CHANGES]
            response = client.request(
                case.method,
                self.path(case),
                params=self.query(case),
                headers={str(name): str(value) for name, value in made_up if _is_sendable(value)},
                **self.body(case),
            )
            checks = [not_a_server_error, response_schema_conformance]
            case.validate_response(response, checks=checks)

        try:
            ask()
        except Unsatisfiable:
            # Some operations take nothing that could be wrong.
            assert mode is GenerationMode.NEGATIVE


def _is_sendable(value: object) -> bool:
    return str(value).isascii() and str(value).isprintable()
