"""The acceptance scenarios about runs, through the HTTP door, on the fortress."""

import json

import pytest
from control_room_stage import POLISHED, SCENE_5, Theatre, staff

from callboard.core.vocabulary import SignalKind
from callboard.models import Failure, Line, Script

pytestmark = pytest.mark.anyio

DRAFT = {"recipe_id": "creative_draft_scene", "description": "Draft scene 5, The Envoy"}


@pytest.mark.req("CR-03", "CR-168", "CR-170", "CR-171", "CR-172")
async def test_scenario_1_draft_end_to_end(theatre: Theatre) -> None:
    script = Script(staff())
    async with theatre.serve(script) as stage:
        started = await stage.post("/runs", DRAFT, status=201)
        assert started["status"] == "running"
        events = await stage.events(f"/runs/{started['run_id']}/events")
        run = await stage.get(f"/runs/{started['run_id']}")
        assert run["status"] == "done", run["error"]
        keys = [json.loads(event["data"])["step_key"] for event in events]
        assert keys.index("a/gather_canon") < keys.index("b/brief") < keys.index("dod")
        assert [call.request.prompt_type for call in script.calls] == [
            "refine_brief",
            "draft_scene",
            "polish_draft",
            "check_continuity",
            "evaluate_reader_experience",
        ]
        steps = await stage.get(f"/runs/{started['run_id']}/steps")
        assert len(steps) == 8 and {step["status"] for step in steps} == {"done"}
        kinds = [slot["type"] for slot in run["cache_summary"].values()]
        assert sorted(kinds) == ["artifact"] * 5 + ["pointer"] * 3
        receipts = await stage.get(f"/audit/sessions/{run['session_id']}/receipts")
        tools = [each["tool_id"] for each in receipts]
        assert tools[:3] == ["file_locator", "outline_analyzer", "canon_checker"]
        slot = await stage.get(f"/runs/{started['run_id']}/cache/edited_draft")
        assert slot["text"] == POLISHED
        assert slot["evidence"] == 'slot:draft "The envoy rode up to the gate"'
    assert (theatre.root / SCENE_5).read_text().strip() == POLISHED


@pytest.mark.req("CR-111", "CR-113")
async def test_scenario_5_agent_failure_halts(theatre: Theatre) -> None:
    broken = Script(staff(polish_draft=Line(fail=Failure(500, "the model fell over"), times=None)))
    async with theatre.serve(broken) as stage:
        started = await stage.post("/runs", DRAFT, status=201)
        run = await stage.run_over(started["run_id"])
        assert run["status"] == "failed" and run["error"]["step_id"] == "polish"
        assert [call.request.prompt_type for call in broken.calls].count("polish_draft") == 1
        assert "check_continuity" not in [call.request.prompt_type for call in broken.calls]
        assert (await stage.get(f"/runs/{started['run_id']}/cache/draft"))["text"]
        assert not (theatre.root / SCENE_5).exists()
    healed = Script(staff())
    async with theatre.serve(healed) as stage:
        again = await stage.post(f"/runs/{started['run_id']}/retry", status=201)
        run = await stage.run_over(again["run_id"])
        assert run["status"] == "done" and run["retried_from"] == started["run_id"]
        assert healed.calls[0].request.prompt_type == "polish_draft"
        old = await stage.get(f"/runs/{started['run_id']}")
        assert old["status"] == "failed"


@pytest.mark.req("CR-123", "CR-124", "CR-126")
async def test_scenario_7_dod_failure(theatre: Theatre) -> None:
    scene = theatre.root / "Story/Scenes/SCN-03-ashes.md"
    before = scene.read_text()
    verdict = "Kael's eyes are wrong.\n\nVerdict: FAIL\n\nEvidence: scope: checked scene 3"
    async with theatre.serve(Script(staff(check_continuity=verdict))) as stage:
        body = {
            "recipe_id": "creative_draft_scene",
            "description": "Draft scene 3, Ashes",
            "args": {"scene_path": "Story/Scenes/SCN-03-ashes.md"},
        }
        started = await stage.post("/runs", body, status=201)
        run = await stage.run_over(started["run_id"])
        assert run["status"] == "failed" and run["error"]["code"] == "dod_failed"
        failed = [each for each in run["dod_results"] if not each["passed"]]
        issues = await stage.get("/issues", run_id=run["run_id"], kind="dod_failure")
        assert len(issues) == len(failed) == 1
        assert scene.read_text() == before
        proposals = await stage.get(f"/runs/{run['run_id']}/proposals")
        assert proposals[0]["path"] == "Story/Scenes/SCN-03-ashes.md"
        assert f"+{POLISHED}" in proposals[0]["diff"]
        (written,) = await stage.post(f"/runs/{run['run_id']}/apply")
        assert written["applied"] and not written["outdated"]
        assert scene.read_text().strip() == POLISHED


@pytest.mark.req("CR-168", "CR-173")
async def test_scenario_13_cancel_and_conflicts(theatre: Theatre) -> None:
    script = Script(staff(draft_scene=Line("too late", hold="draft", times=None)))
    async with theatre.serve(script) as stage:
        started = await stage.post("/runs", DRAFT, status=201)
        await script.reached("draft")
        twice = await stage.post("/runs", DRAFT, status=409)
        assert twice["error"]["details"]["run_id"] == started["run_id"]
        cancelled = await stage.post(f"/runs/{started['run_id']}/cancel")
        assert cancelled == {"run_id": started["run_id"], "status": "cancelled"}
        script.release("draft")
        await stage.post(f"/runs/{started['run_id']}/cancel", status=409)
        await stage.post("/runs/run_unknown/cancel", status=404)
        unknown = await stage.post("/runs", {"recipe_id": "nope"}, status=400)
        assert "nope" in unknown["error"]["message"]
        missing = await stage.post("/runs", {"recipe_id": "analytical_prose"}, status=400)
        assert missing["error"]["details"]["missing_args"] == ["scene_path"]
        run = await stage.get(f"/runs/{started['run_id']}")
        assert run["status"] == "cancelled"
        assert not (theatre.root / SCENE_5).exists()


@pytest.mark.req("CR-06", "CR-175")
async def test_a_pause_over_the_engine_is_seen_at_the_door(theatre: Theatre) -> None:
    script = Script(staff(draft_scene=Line("x", hold="draft", times=None)))
    async with theatre.serve(script) as stage:
        started = await stage.post("/runs", DRAFT, status=201)
        await script.reached("draft")
        await stage.studio.engine.signal(started["run_id"], SignalKind.CANCEL)
        assert (await stage.get(f"/runs/{started['run_id']}"))["status"] == "cancelled"


@pytest.mark.req("CR-169")
async def test_lists_are_paged_and_filtered(theatre: Theatre) -> None:
    async with theatre.serve() as stage:
        ids: list[str] = []
        for _ in range(3):
            body = {"recipe_id": "analytical_consistency", "description": "Check consistency"}
            ids.append((await stage.post("/runs", body, status=201))["run_id"])
            await stage.run_over(ids[-1])
        listed = await stage.get("/runs", recipe_id="analytical_consistency")
        assert [each["run_id"] for each in listed] == ids[::-1]
        first = await stage.client.get("/api/runs", params={"limit": 2})
        assert len(first.json()) == 2 and first.headers["X-Total-Count"] == "3"
        following = await stage.client.get(first.links["next"]["url"])
        assert [each["run_id"] for each in following.json()] == ids[:1]
        assert (await stage.client.get("/api/runs?status=nonsense")).status_code == 400
