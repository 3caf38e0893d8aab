"""What a caller is told who names something that is not there, or asks at the wrong time."""

from collections.abc import Iterator
from typing import Any

import pytest
from factory_door_stage import BLOCKED, SCENE, Shop, staff, write_book
from fastapi.testclient import TestClient

from callboard.api.app import create_app
from callboard.models import Script
from callboard.packs.writers_factory.factory import factory_of
from door_server import client_of

UNKNOWN = (
    ("GET", "/templates/nope", None),
    ("GET", "/templates/nope/versions", None),
    ("PUT", "/templates/nope", {"fields": {}}),
    ("POST", "/templates/nope/accept", {"check": "flaw"}),
    ("POST", "/templates/nope/status", {"status": "complete"}),
    ("GET", "/kb/nope/nope", None),
    ("DELETE", "/kb/nope/nope", None),
    ("DELETE", "/kb/character/nope", None),
    ("GET", "/notebooks/nope", None),
    ("POST", "/notebooks/nope/query", {"question": "Where?"}),
    ("POST", "/notebooks/nope/sync", None),
    ("DELETE", "/notebooks/nope", None),
    ("GET", "/conflicts/nope", None),
    ("POST", "/conflicts/nope", {"decision": "keep_existing"}),
    ("GET", "/graph/node?name=nope", None),
    ("GET", "/graph/path?a=nope&b=nope", None),
    ("GET", "/graph/subgraph?seed=nope", None),
    ("GET", "/tournaments/nope", None),
    ("GET", "/tournaments/nope/presented", None),
    ("GET", "/tournaments/nope/reveal", None),
    ("POST", "/tournaments/nope/winner", {"label": "A"}),
    ("GET", "/voice/bundle", None),
    ("GET", "/scaffolds/ch9-sc9", None),
    ("POST", "/scaffolds/ch9-sc9/approve", None),
    ("GET", "/scenes/ch9-sc9", None),
    ("GET", "/scenes/nonsense", None),
    ("GET", "/scenes/ch9-sc9/text", None),
    ("GET", "/scenes/ch9-sc9/versions", None),
    ("GET", "/scenes/ch1-sc1/versions/77", None),
    ("POST", "/scenes/ch1-sc1/versions/77/restore", None),
    ("POST", "/scenes/ch9-sc9/undo", None),
    ("GET", "/scenes/ch9-sc9/variants", None),
    ("POST", "/scenes/ch9-sc9/variants", None),
    ("POST", "/scenes/ch1-sc1/select", {"variant_id": "nope"}),
    ("POST", "/scenes/ch1-sc1/accept", {"variant_id": "nope"}),
    ("POST", "/scenes/ch9-sc9/analyze", None),
    ("GET", "/scenes/ch9-sc9/analysis", None),
    ("POST", "/scenes/ch9-sc9/enhance", None),
    ("GET", "/scenes/ch9-sc9/enhancements", None),
    ("GET", "/enhancements/nope", None),
    ("POST", "/enhancements/nope/decide", {}),
    ("GET", "/scenes/ch9-sc9/edits", None),
    ("GET", "/proposals/nope", None),
    ("POST", "/proposals/nope/accept", None),
    ("POST", "/proposals/nope/reject", None),
    ("GET", "/health-checks/latest", None),
    ("GET", "/health-checks/nope", None),
    ("POST", "/findings/nope/mute", {"reason": "It is meant."}),
    ("POST", "/findings/nope/unmute", None),
    ("PUT", "/theme-overrides", {"target": "nope", "score": 3, "reason": "Mine."}),
    ("DELETE", "/theme-overrides?target=nope", None),
    ("PUT", "/scenes/ch9-sc9/tension", {"tension": 3}),
    ("PUT", "/scenes/ch9-sc9/symbols", {"symbols": []}),
    ("PUT", "/scenes/ch9-sc9/challenge", {}),
    ("GET", "/turns/nope", None),
    ("GET", "/turns/nope/prompts", None),
    ("GET", "/prompts/nope", None),
    ("GET", "/jobs/nope", None),
    ("GET", "/chat?session_id=sess_nope", None),
    ("POST", "/chat", {"message": "Hello", "session_id": "sess_nope"}),
    ("POST", "/prompts/preview", {"message": "Hello", "session_id": "sess_nope"}),
    ("POST", "/consolidate", {"session_id": "sess_nope"}),
)
NOT_NOW = (
    ("/templates/protagonist/accept", {"check": "nope"}, "nothing_to_accept"),
    ("/scenes/ch1-sc1/undo", None, "nothing_to_undo"),
    ("/scenes/ch1-sc1/edits/undo", None, "nothing_to_undo"),
    ("/scenes/ch1-sc2/accept", None, "acceptance_blocked"),
    ("/voice/bundle", None, "no_winner"),
    ("/voice/lock", {"confirmed": True}, "lock_refused"),
    ("/reopen", None, "not_complete"),
)
SCENE_ROW = {"chapter": 1, "scene": 1, "title": "The bell"}
EDIT_ROW = {"new_text": "a", "reason": "b", "old_text": "c"}
# A key that means nothing, and values beyond what is taken.
MISSHAPEN = (
    ("PUT", "/project", {"title": "Salt", "author": "Ines"}),
    ("PUT", "/project", {"title": "x" * 501}),
    ("POST", "/kb", {"category": "world", "key": "k", "value": "v", "why": "no"}),
    ("POST", "/kb", {"category": "world", "key": "k"}),
    ("POST", "/notebooks", {"id": "a", "role": "world", "path": "."} | {"notebook_id": "b"}),
    ("POST", "/notebooks", {"id": "a", "role": "world", "path": ""}),
    ("PUT", "/outline", {"scenes": [SCENE_ROW | {"mood": "dark"}]}),
    ("PUT", "/outline", {"scenes": [SCENE_ROW | {"chapter": 10_000}]}),
    ("PUT", "/outline", {"scenes": [SCENE_ROW | {"word_target": 0}]}),
    ("POST", "/scenes/ch1-sc1/edits", EDIT_ROW | {"target": "ch1-sc2"}),
    ("POST", "/scenes/ch1-sc1/edits", EDIT_ROW | {"reason": ""}),
    ("POST", "/edits", EDIT_ROW),
    ("POST", "/edits", EDIT_ROW | {"target": "ch1-sc1", "start": -1}),
    ("POST", "/tournaments/nope/winner", {"label": "A", "name": "two"}),
    ("POST", "/tournaments/nope/winner", {"label": "ABCDE"}),
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A book with two scenes, the second with words that keep it out, in the last mode."""
    shop = Shop.build(tmp_path_factory.mktemp("errors") / "salt")
    app = create_app(shop.root, shop.opening(Script(staff())))
    with client_of(app) as opened:
        assert opened.portal is not None
        opened.portal.call(write_book, factory_of(app.state.studio), SCENE, BLOCKED)
        opened.post("/api/factory/mode", json={"to": "EDITOR"})
        moved = opened.post("/api/factory/mode", json={"to": "EDITOR", "override": True})
        assert moved.status_code == 200, moved.text
        yield opened


def refused(client: TestClient, method: str, path: str, body: Any, status: int) -> Any:
    """Return the error of a request that must be refused."""
    response = client.request(method, f"/api/factory{path}", json=body)
    assert response.status_code == status, response.text
    told = response.json()
    assert set(told) == {"error"}
    assert set(told["error"]) == {"code", "message", "details"}
    assert told["error"]["details"]["fix"]
    return told["error"]


@pytest.mark.req("WF-G85")
@pytest.mark.parametrize(("method", "path", "body"), UNKNOWN)
def test_what_nobody_knows_is_not_found(
    client: TestClient, method: str, path: str, body: Any
) -> None:
    refused(client, method, path, body, 404)


@pytest.mark.parametrize(("path", "body", "code"), NOT_NOW)
def test_what_cannot_be_done_now_is_a_conflict(
    client: TestClient, path: str, body: Any, code: str
) -> None:
    assert refused(client, "POST", path, body, 409)["code"] == code


@pytest.mark.parametrize(("method", "path", "body"), MISSHAPEN)
def test_what_has_another_shape_is_refused(
    client: TestClient, method: str, path: str, body: Any
) -> None:
    response = client.request(method, f"/api/factory{path}", json=body)
    assert response.status_code == 400, response.text
    assert response.json()["error"]["message"]
