"""Every operation of the API, fuzzed from its own description: never a 500, never another shape."""

from collections.abc import Iterator

import pytest
from control_room_stage import Theatre, staff
from fastapi.testclient import TestClient
from schemathesis.generation import GenerationMode

from callboard.api.app import create_app
from callboard.models import Script
from door_fuzz import Fuzz, operations
from door_server import client_of

# Packs with routes of their own are fuzzed on projects of their own.
OTHERS = ("/api/factory", "/api/alfred")
# Streams have no end that a fuzzer could wait for.
OPERATIONS = operations(lambda path: not path.endswith("/events") and not path.startswith(OTHERS))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    theatre = Theatre.build(tmp_path_factory.mktemp("fuzz") / "fortress")
    app = create_app(theatre.root, theatre.opening(Script(staff())))
    with client_of(app) as opened:
        yield opened


def test_there_is_something_to_fuzz() -> None:
    assert len(OPERATIONS) > 35


@pytest.mark.req("CR-174")
@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize("name", OPERATIONS)
def test_no_request_breaks_the_server(name: str, mode: GenerationMode, client: TestClient) -> None:
    Fuzz(examples=5).hold(client, OPERATIONS[name], mode)
