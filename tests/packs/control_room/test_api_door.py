"""The door itself: who may come in, what a stream remembers, how errors look."""

import json
import os
from typing import Any

import httpx
import pytest
from control_room_stage import Theatre

from callboard.api.entrance import require_token_for
from callboard.core.errors import InvalidInput
from warm_process import call_warm

pytestmark = pytest.mark.anyio


async def test_without_a_token_only_this_machine_is_served(theatre: Theatre) -> None:
    async with theatre.serve() as stage:
        rebound = await stage.client.get("/api/runs", headers={"Host": "evil.example"})
        assert rebound.status_code == 403
        foreign = await stage.client.post(
            "/api/sessions", json={}, headers={"Origin": "https://evil.example"}
        )
        assert foreign.status_code == 403
        own = str(stage.client.base_url).rstrip("/")
        answered = await stage.client.get("/api/runs", headers={"Origin": own})
        assert answered.status_code == 200
        assert len(await stage.get("/sessions")) == 0


async def test_with_a_token_nobody_gets_in_without_it(theatre: Theatre) -> None:
    async with theatre.serve(token="let me in") as stage:  # noqa: S106 - the token of a test
        refused = await stage.client.get("/api/runs")
        assert refused.status_code == 401
        assert refused.json()["error"]["code"] == "unauthorized"
        wrong = await stage.client.get("/api/runs", headers={"Authorization": "Bearer no"})
        assert wrong.status_code == 401
        shown = {"Authorization": "Bearer let me in"}
        assert (await stage.client.get("/api/runs", headers=shown)).status_code == 200
        assert (await stage.client.get("/api/health")).status_code == 200


def test_listening_to_the_network_needs_a_token() -> None:
    with pytest.raises(InvalidInput, match=r"0\.0\.0\.0"):
        require_token_for("0.0.0.0", None)  # noqa: S104 - that is what is refused
    require_token_for("0.0.0.0", "token")  # noqa: S104
    require_token_for("127.0.0.1", None)


async def test_a_stream_goes_on_where_the_browser_left_it(theatre: Theatre) -> None:
    async with theatre.serve() as stage:
        body = {"recipe_id": "analytical_consistency", "description": "Check consistency"}
        started = await stage.post("/runs", body, status=201)
        seen = await stage.events(f"/runs/{started['run_id']}/events")
        # What is only shown, such as words as they come, has no number to go on from.
        whole = [event for event in seen if "id" in event]
        assert json.loads(whole[-1]["data"])["data"]["state"] in ("done", "failed")
        middle = whole[len(whole) // 2]["id"]
        rest = await stage.events(f"/runs/{started['run_id']}/events", **{"Last-Event-ID": middle})
        assert [event["id"] for event in rest] == [
            event["id"] for event in whole if int(event["id"]) > int(middle)
        ]
        assert len(rest) < len(whole)
        unknown = await stage.client.get("/api/runs/run_x/events")
        assert unknown.status_code == 404


@pytest.mark.req("CR-174")
async def test_every_error_has_one_body(theatre: Theatre) -> None:
    async with theatre.serve() as stage:
        answers: list[httpx.Response] = [
            await stage.client.get("/api/runs/run_x"),
            await stage.client.get("/api/nowhere"),
            await stage.client.put("/api/runs"),
            await stage.client.post("/api/runs", content=b"{not json"),
            await stage.client.post("/api/runs", json={"recipe_id": "x", "extra": 1}),
            await stage.client.get("/api/audit/receipts/rcpt_forged"),
        ]
        assert [each.status_code for each in answers] == [404, 404, 405, 400, 400, 404]
        for answer in answers:
            assert set(answer.json()["error"]) == {"code", "message", "details"}


@pytest.mark.req("CR-88", "CR-175")
async def test_a_tool_run_at_the_door_leaves_a_receipt(theatre: Theatre) -> None:
    async with theatre.serve() as stage:
        ran = await stage.post("/tools/file_locator/run", {"args": {"search_criteria": "Kael"}})
        receipt = await stage.get(f"/audit/receipts/{ran['receipt']['receipt_id']}")
        assert receipt["signature_valid"] is True
        assert receipt["output"] == ran["payload"]
        issue = await stage.post("/issues", {"title": "Look at this"}, status=201)
        linked = await stage.post(
            f"/audit/sessions/{receipt['session_id']}/link-issue", {"issue_id": issue["id"]}
        )
        session = await stage.get(f"/audit/sessions/{receipt['session_id']}/receipts")
        assert linked["receipt_ids"] == [each["receipt_id"] for each in session[:-1]]
        assert [each["tool_id"] for each in session] == [
            "file_locator",
            "callboard.add_issue",
            "callboard.link_session",
        ]
        refused = await stage.post(
            "/tools/prose_analyzer/run", {"args": {"scene_path": "../x.md"}}, status=400
        )
        assert refused["error"]["code"] == "path_outside_project"


async def test_runs_and_staff_have_the_names_of_the_command_line(theatre: Theatre) -> None:
    async with theatre.serve() as stage:
        body = {"recipe_id": "analytical_consistency", "description": "Check consistency"}
        run_id = (await stage.post("/runs", body, status=201))["run_id"]
        await stage.events(f"/runs/{run_id}/events")
        (listed,) = await stage.get("/runs")
        detail, staff = await stage.get(f"/runs/{run_id}"), await stage.get("/agents")
    env = {**os.environ, "HOME": str(theatre.root.parent / "home")}

    def told(*words: str) -> Any:
        return json.loads(call_warm(*words, "--json", cwd=theatre.root, env=env).stdout)

    (printed,) = told("runs", "list")["runs"]
    # Both keep what they always said; what the other calls the same thing stands beside it.
    for name in ("id", "run_id", "state", "status", "choreography", "title", "session_id"):
        assert printed[name] == listed[name] == detail[name], name
    agents = told("agents")["agents"]
    assert [set(each) for each in agents] == [set(each) for each in staff]
    assert [each["owns"] for each in agents] == [each["owns"] for each in staff]
