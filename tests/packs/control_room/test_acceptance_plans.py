"""Session plans, through the HTTP door: one call, approval, order, pause, force, retry, restart."""

import json
from typing import Any

import pytest
from control_room_stage import Backstage, Theatre, staff

from callboard.models import Failure, Line, Script

pytestmark = pytest.mark.anyio

WISH = {"intent": "write scenes 5 and 6, check consistency, audit foreshadowing"}


def statuses(plan: Any) -> list[str]:
    return [task["status"] for task in plan["tasks"]]


async def resting(stage: Backstage, plan_id: str) -> Any:
    return await stage.plan_until(plan_id, lambda plan: plan["status"] != "running")


@pytest.mark.req(
    "CR-156", "CR-157", "CR-158", "CR-159", "CR-160", "CR-161", "CR-162", "CR-163", "CR-165"
)
async def test_scenario_11_session_plan(theatre: Theatre) -> None:
    script = Script(
        staff(draft_scene=lambda request: Line(str(staff()(request)), hold=_scene(request)))
    )
    async with theatre.serve(script) as stage:
        plan = await stage.post("/plans", WISH, status=201)
        assert [call.request.prompt_type for call in script.calls] == ["decompose"]
        assert statuses(plan) == ["pending", "blocked", "blocked", "needs_scoping"]
        assert plan["status"] == "draft" and await stage.get("/runs") == []
        plan_id = plan["plan_id"]

        moved = await stage.post(f"/plans/{plan_id}/reorder", {"order": [2, 1, 3, 4]}, status=409)
        assert moved["error"]["details"]["task"] == 2
        assert moved["error"]["details"]["dependency"] == 1

        await stage.post(f"/plans/{plan_id}/start")
        await script.reached("scene 5")
        script.release("scene 5")
        await script.reached("scene 6")
        plan = await stage.post(f"/plans/{plan_id}/pause")
        assert statuses(plan)[:2] == ["done", "running"]
        script.release("scene 6")
        plan = await stage.plan_until(plan_id, lambda now: statuses(now)[1] == "done")
        assert statuses(plan) == ["done", "done", "pending", "needs_scoping"]
        assert plan["tasks"][2]["run_id"] is None

        body = {"scoping_answer": "the brass key"}
        plan = await stage.patch(f"/plans/{plan_id}/tasks/4", body)
        assert statuses(plan)[3] == "pending"
        assert plan["tasks"][3]["args"]["themes"] == ["brass key"]

        await stage.post(f"/plans/{plan_id}/resume")
        plan = await resting(stage, plan_id)
        assert plan["status"] == "done", plan
        review = plan["tasks"][0]["review"]
        assert review["dod_text"] == "It is written."
        assert all(result["passed"] for result in review["dod_results"])
        assert len(review["dod_results"]) == 6
        run = await stage.get(f"/runs/{plan['tasks'][0]['run_id']}")
        assert run["task"]["session_plan_task_id"] == f"{plan_id}/1"
    stored = json.loads((theatre.root / f".callboard/sessions/{plan_id}/plan.json").read_text())
    assert stored["status"] == "done"


def _scene(request: Any) -> str:
    return "scene 5" if "scene 5" in request.prompt_text else "scene 6"


@pytest.mark.req("CR-161", "CR-163")
async def test_a_forced_task_runs_alone_and_is_marked(theatre: Theatre) -> None:
    async with theatre.serve() as stage:
        plan = await stage.post("/plans", WISH, status=201)
        plan_id = plan["plan_id"]
        await stage.post(f"/plans/{plan_id}/tasks/4/force-start", status=409)
        await stage.post(f"/plans/{plan_id}/tasks/3/force-start")
        plan = await stage.plan_until(plan_id, lambda now: statuses(now)[2] == "done")
        assert plan["tasks"][2]["forced"] is True
        assert statuses(plan) == ["pending", "blocked", "done", "needs_scoping"]


@pytest.mark.req("CR-128", "CR-163", "CR-165", "CR-167")
async def test_a_failed_task_blocks_its_dependents_until_it_is_retried(theatre: Theatre) -> None:
    broken = staff(draft_scene=Line(fail=Failure(500), times=None))
    async with theatre.serve(Script(broken)) as stage:
        plan = await stage.post("/plans", WISH, status=201)
        plan_id = plan["plan_id"]
        await stage.post(f"/plans/{plan_id}/start")
        plan = await resting(stage, plan_id)
        assert plan["status"] == "failed"
        assert statuses(plan) == ["failed", "blocked", "blocked", "needs_scoping"]
        failed_run = plan["tasks"][0]["run_id"]
        # What the Chief wrote about being done stands beside the results and changes nothing.
        assert plan["tasks"][0]["review"]["dod_text"] == "It is written."
        assert plan["tasks"][0]["review"]["run_status"] == "failed"
    healed = Script(staff())
    async with theatre.serve(healed) as stage:
        await stage.post(f"/plans/{plan_id}/tasks/1/retry")
        plan = await stage.plan_until(plan_id, lambda now: statuses(now)[0] == "done")
        assert plan["tasks"][0]["run_history"][0] == failed_run
        assert len(plan["tasks"][0]["run_history"]) == 2
        assert healed.calls[0].request.prompt_type == "draft_scene"
        assert statuses(plan)[1] == "pending"


@pytest.mark.req("CR-165")
async def test_a_plan_goes_on_after_a_restart(theatre: Theatre) -> None:
    stuck = Script(staff(draft_scene=Line("x", hold="forever", times=None)))
    async with theatre.serve(stuck) as stage:
        plan = await stage.post("/plans", WISH, status=201)
        await stage.post(f"/plans/{plan['plan_id']}/start")
        await stuck.reached("forever")
    async with theatre.serve() as stage:
        plan = await resting(stage, plan["plan_id"])
        assert statuses(plan) == ["done", "done", "done", "needs_scoping"]
        assert plan["status"] == "paused"
        assert len(plan["tasks"][0]["run_history"]) == 1


@pytest.mark.req("CR-157")
@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("no idea", "no JSON"),
        ('{"tasks": []}', "at least 1"),
        ('{"tasks": [{"id": 1, "description": "a", "deps": [2]}]}', "does not exist"),
        (
            '{"tasks": [{"id": 1, "description": "a", "deps": [2]},'
            ' {"id": 2, "description": "b", "deps": [1]}]}',
            "ring",
        ),
        (
            '{"tasks": [{"id": 1, "description": "a", "deps": []},'
            ' {"id": 1, "description": "b", "deps": []}]}',
            "more than one",
        ),
    ],
)
async def test_a_reply_that_is_no_plan_is_refused_once(
    theatre: Theatre, reply: str, why: str
) -> None:
    script = Script(staff(decompose=reply))
    async with theatre.serve(script) as stage:
        refused = await stage.post("/plans", WISH, status=502)
        assert refused["error"]["code"] == "decomposition_invalid"
        assert why in refused["error"]["message"]
        assert refused["error"]["details"]["reply"] == reply
        assert len(script.calls) == 1
        assert await stage.get("/plans") == []


@pytest.mark.req("CR-161", "CR-164")
async def test_tasks_can_be_said_anew_and_taken_out(theatre: Theatre) -> None:
    async with theatre.serve() as stage:
        plan = await stage.post("/plans", WISH, status=201)
        plan_id = plan["plan_id"]
        listed = await stage.delete(f"/plans/{plan_id}/tasks/1", status=409)
        assert listed["error"]["details"]["dependents"] == [2, 3]
        plan = await stage.delete(f"/plans/{plan_id}/tasks/1", drop_deps=True)
        assert statuses(plan) == ["pending", "blocked", "needs_scoping"]
        plan = await stage.patch(f"/plans/{plan_id}/tasks/2", {"description": "make it better"})
        assert statuses(plan)[0] == "needs_scoping"
        assert "no recipe" in plan["tasks"][0]["reason"]
        body = {"description": "Prose review of scene 2"}
        plan = await stage.patch(f"/plans/{plan_id}/tasks/2", body)
        assert plan["tasks"][0]["recipe_id"] == "analytical_prose"
        assert statuses(plan)[0] == "pending"


async def test_a_wish_that_says_nothing_is_refused_before_anything_begins(
    theatre: Theatre,
) -> None:
    async with theatre.serve(Script()) as stage:
        refused = await stage.post("/plans", {"intent": "\u00a0 \n"}, status=400)
        assert refused["error"]["code"] == "invalid_input"
        assert await stage.get("/runs") == []
