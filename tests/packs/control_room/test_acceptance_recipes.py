"""All seven recipes, played on the fortress, and what their templates ask for."""

import json
from pathlib import Path
from typing import Any

import pytest
from control_room_stage import Theatre, staff

import callboard.packs.control_room
from callboard.models import Script

pytestmark = pytest.mark.anyio

PACK = Path(callboard.packs.control_room.__file__).parent
REQUESTS: dict[str, dict[str, Any]] = {
    "creative_draft_scene": {"description": "Draft scene 5, The Envoy"},
    "analytical_consistency": {"description": "Consistency check of scenes 1-4"},
    "analytical_prose": {"description": "Prose review of scene 2"},
    "analytical_foreshadow": {"description": "Audit the foreshadowing of the brass key"},
    "analytical_scene_validate": {"description": "Validate scene 1"},
    "structural_canon": {"description": "Canon update for Kael after scene 3"},
    "structural_outline": {"description": "Restructure the outline"},
}
VERDICTS = ("check_continuity", "report_inconsistencies", "assess_beat_match")


def recipe(recipe_id: str) -> dict[str, Any]:
    return json.loads((PACK / "recipes" / f"{recipe_id}.json").read_text())


@pytest.mark.req("CR-90", "CR-98", "CR-115", "CR-133", "CR-139")
@pytest.mark.parametrize("recipe_id", REQUESTS)
async def test_every_recipe_plays_to_its_end(theatre: Theatre, recipe_id: str) -> None:
    script = Script(staff())
    async with theatre.serve(script) as stage:
        routed = await stage.post("/route", {"description": REQUESTS[recipe_id]["description"]})
        assert routed["recipe_id"] == recipe_id, routed
        body = {"recipe_id": recipe_id, **REQUESTS[recipe_id]}
        started = await stage.post("/runs", body, status=201)
        run = await stage.run_over(started["run_id"])
        assert run["status"] == "done", run["error"]
        played = [call.request.prompt_type for call in script.calls]
        assert played == [step["prompt_type"] for step in recipe(recipe_id)["phase_b"]]
        slots = {
            name: await stage.get(f"/runs/{run['run_id']}/cache/{name}")
            for name in run["cache_summary"]
        }
    for slot in slots.values():
        shown = ("receipt_id",) if slot["type"] == "pointer" else ("agent_id", "text", "evidence")
        assert all(slot[each] for each in ("sha256", "summary", *shown)), slot
    folder = theatre.root / ".callboard" / "runs" / run["run_id"]
    cache = json.loads((folder / "cache.json").read_text())
    assert {name: each["sha256"] for name, each in cache.items()} == {
        name: each["sha256"] for name, each in slots.items()
    }
    assert json.loads((folder / "recipe.json").read_text()) == recipe(recipe_id)


async def test_findings_become_issues_once(theatre: Theatre) -> None:
    async with theatre.serve() as stage:
        body = {"recipe_id": "analytical_consistency", **REQUESTS["analytical_consistency"]}
        for _ in range(2):
            started = await stage.post("/runs", body, status=201)
            await stage.run_over(started["run_id"])
        issues = await stage.get("/issues", kind="finding")
        titles = [issue["title"] for issue in issues]
        assert len(titles) == len(set(titles)) > 1
        assert all(issue["receipt_ids"] for issue in issues)


@pytest.mark.req("CR-125")
async def test_an_outline_is_proposed_and_never_overwritten(theatre: Theatre) -> None:
    outline = theatre.root / "Story/SCN-outline.md"
    before = outline.read_text()
    async with theatre.serve() as stage:
        body = {"recipe_id": "structural_outline", **REQUESTS["structural_outline"]}
        started = await stage.post("/runs", body, status=201)
        await stage.run_over(started["run_id"])
        assert outline.read_text() == before
        proposed = await stage.get(f"/runs/{started['run_id']}/proposals")
        assert proposed[0]["path"] == "Story/SCN-outline.md" and not proposed[0]["applied"]
        outline.write_text(before + "\nA line of my own.\n")
        stale = await stage.post(f"/runs/{started['run_id']}/apply", status=409)
        assert stale["error"]["code"] == "proposal_outdated"
        await stage.post(f"/runs/{started['run_id']}/apply", {"force": True})
    assert outline.read_text().startswith("# The Winter Fortress\n\n### Scene 1")
    backups = [
        path.read_text()
        for path in (theatre.root / ".callboard/backups/files").rglob("*")
        if path.is_file()
    ]
    assert any("A line of my own." in text for text in backups)


@pytest.mark.req("CR-148", "CR-149")
def test_templates_ask_for_what_is_checked() -> None:
    prompts = PACK / "prompts"
    types = {step["prompt_type"] for name in REQUESTS for step in recipe(name)["phase_b"]}
    assert len(types) == 17
    for name in types:
        text = (prompts / f"{name}.md").read_text()
        assert "\nEvidence: " in text, name
        assert ("Verdict: PASS" in text) == (name in VERDICTS), name
    assert (prompts / "refine_brief.t1.md").exists() and (prompts / "refine_brief.t5.md").exists()
    assert not list(prompts.glob("draft_scene.t*.md"))
