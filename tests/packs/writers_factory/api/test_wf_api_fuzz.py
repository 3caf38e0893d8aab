"""Every door of Writers Factory, fuzzed from its own description: no 500, no other shape."""

from collections.abc import Iterator

import pytest
from factory_door_stage import BLOCKED, SCENE, Shop, staff, write_book
from fastapi.testclient import TestClient
from schemathesis.generation import GenerationMode

from callboard.api.app import create_app
from callboard.models import Script
from callboard.packs.writers_factory.factory import factory_of
from door_fuzz import Case, Fuzz, operations, path_of
from door_server import client_of

OPERATIONS = operations(lambda path: path.startswith("/api/factory"))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    shop = Shop.build(tmp_path_factory.mktemp("fuzz") / "salt")
    app = create_app(shop.root, shop.opening(Script(staff())))
    with client_of(app) as opened:
        assert opened.portal is not None
        opened.portal.call(write_book, factory_of(app.state.studio), SCENE, BLOCKED)
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
    Fuzz(examples=3, path=_path).hold(client, OPERATIONS[name], mode)


def _path(case: Case) -> str:
    """Half of the doors are about a scene; a random name would only ever find none."""
    if "{scene_id}" not in case.path:
        return path_of(case)
    known = case.path.replace("{scene_id}", "ch1-sc2")
    others = dict(case.path_parameters or {})
    return known.replace("{number}", str(others.get("number", 1)))
