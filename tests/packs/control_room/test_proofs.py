"""What code finds in a text decides whether it is written, whatever the staff says of it."""

import json
from typing import Any

import pytest
from control_room_stage import PROSE, SCENE_5, Backstage, Theatre, staff

from callboard.core.canonical import digest_bytes
from callboard.models import Script
from callboard.tools import Policy, ToolCall

pytestmark = pytest.mark.anyio

DRAFT = {"recipe_id": "creative_draft_scene", "description": "Draft scene 5, The Envoy"}
BROKEN = f"{PROSE} Kael was sixty years old. Kael's eyes were green."
AGES = "Kael's age: canon says 34, the scene says 60."


async def finished(stage: Backstage, body: dict[str, Any] = DRAFT) -> Any:
    started = await stage.post("/runs", body, status=201)
    return await stage.run_over(started["run_id"])


def drafted(text: str) -> Script:
    """A staff that writes this text and has nothing against it."""
    return Script(
        staff(
            draft_scene=f'{text}\n\nEvidence: slot:scene_brief "Kael meets an envoy at the gate"',
            polish_draft=f'{text}\n\nEvidence: slot:draft "The envoy rode up to the gate"',
        )
    )


async def test_a_draft_that_breaks_canon_is_proposed_though_the_staff_passes_it(
    theatre: Theatre,
) -> None:
    async with theatre.serve(drafted(BROKEN)) as stage:
        run = await finished(stage)
        assert run["status"] == "failed" and run["error"]["code"] == "dod_failed"
        assert not (theatre.root / SCENE_5).exists()
        results = {(each["check"], each["target"]): each for each in run["dod_results"]}
        assert results[("slot_field_equals", "continuity_report.pass")]["passed"]
        proof = results[("proof", SCENE_5)]
        assert not proof["passed"] and AGES in proof["reason"]
        (proposal,) = await stage.get(f"/runs/{run['run_id']}/proposals")
        assert proposal["proof"]["verdict"] == "FAIL"
        assert any("eyes" in each for each in proposal["proof"]["findings"])
        issue = stage.studio.issues.get(proposal["issue"])
        assert AGES in issue.body and "--force" in issue.body
        assert proposal["proof"]["receipt_id"] in issue.receipt_ids


async def test_a_text_of_ones_own_in_a_fork_is_judged_as_well(theatre: Theatre) -> None:
    async with theatre.serve() as stage:
        run = await finished(stage)
        assert run["status"] == "done"
        (theatre.root / SCENE_5).unlink()
        fork = await stage.studio.engine.fork(run["run_id"], edits={"edited_draft": BROKEN})
        await stage.studio.engine.wait(fork.id)
        told = await stage.get(f"/runs/{fork.id}")
        assert told["status"] == "failed" and told["error"]["code"] == "dod_failed"
        assert told["committed"][0]["proof"]["verdict"] == "FAIL"
        assert not (theatre.root / SCENE_5).exists()


async def test_what_fails_is_applied_only_by_force_and_on_record(theatre: Theatre) -> None:
    async with theatre.serve(drafted(BROKEN)) as stage:
        run = await finished(stage)
        refused = await stage.post(f"/runs/{run['run_id']}/apply", status=409)
        assert refused["error"]["code"] == "proposal_unproven"
        assert AGES in refused["error"]["details"]["findings"]
        assert not (theatre.root / SCENE_5).exists()
        (written,) = await stage.post(f"/runs/{run['run_id']}/apply", {"force": True})
        assert written["applied"] and written["proof"]["verdict"] == "FAIL"
        assert (theatre.root / SCENE_5).read_text().strip() == BROKEN
        issue = stage.studio.issues.get(written["issue"])
        receipts = await stage.get(f"/audit/sessions/{run['session_id']}/receipts")
        by_id = {each["receipt_id"]: each["tool_id"] for each in receipts}
        linked = [by_id[each] for each in issue.receipt_ids]
        assert linked.count("proofreader") == 2 and linked[-1] == "write_file"


async def test_what_was_proposed_before_there_was_a_proof_is_judged_too(theatre: Theatre) -> None:
    async with theatre.serve(drafted(BROKEN)) as stage:
        run = await finished(stage)

        def grow_old(connection: Any) -> None:
            """Leave the commit as a run of an older version left it."""
            where = {"run_id": run["run_id"], "key": "commit/0"}
            said = "SELECT output FROM steps WHERE run_id = :run_id AND key = :key"
            output = json.loads(connection.execute(said, where).fetchone()["output"])
            del output["proof"]
            text = json.dumps(output)
            connection.execute(
                "UPDATE steps SET output = :text, output_hash = :sha256"
                " WHERE run_id = :run_id AND key = :key",
                {**where, "text": text, "sha256": digest_bytes(text.encode())},
            )

        await stage.studio.database.write(grow_old)
        (old,) = await stage.get(f"/runs/{run['run_id']}/proposals")
        assert old["proof"] is None
        refused = await stage.post(f"/runs/{run['run_id']}/apply", status=409)
        assert refused["error"]["code"] == "proposal_unproven"
        (written,) = await stage.post(f"/runs/{run['run_id']}/apply", {"force": True})
        assert written["applied"] and written["proof"]["verdict"] == "FAIL"


async def test_what_was_mended_meanwhile_is_applied_without_force(theatre: Theatre) -> None:
    card = theatre.root / "Compendium/Characters/CHAR-Kael.md"
    async with theatre.serve(drafted(BROKEN)) as stage:
        run = await finished(stage)
        card.write_text(card.read_text().replace("34", "60").replace("grey", "green"))
        (written,) = await stage.post(f"/runs/{run['run_id']}/apply")
        assert written["proof"]["verdict"] == "PASS"


async def test_a_retry_from_commit_looks_anew(theatre: Theatre) -> None:
    card = theatre.root / "Compendium/Characters/CHAR-Kael.md"
    async with theatre.serve(drafted(BROKEN)) as stage:
        run = await finished(stage)
        card.write_text(card.read_text().replace("34", "60").replace("grey", "green"))
        again = await stage.post(
            f"/runs/{run['run_id']}/retry", {"from_step": "commit"}, status=201
        )
        assert (await stage.run_over(again["run_id"]))["status"] == "done"
        assert (theatre.root / SCENE_5).read_text().strip() == BROKEN


async def test_a_recipe_of_the_project_cannot_leave_the_proof_out(theatre: Theatre) -> None:
    recipe: dict[str, Any] = {
        "recipe_id": "rush",
        "label": "Rush a scene",
        "task_patterns": ["rush"],
        "phase_a": [
            {"step_id": "map", "tool": "outline_analyzer", "args": {}, "output_slot": "outline_map"}
        ],
        "phase_b": [
            {
                "step_id": "write",
                "agent_archetype": "planner",
                "prompt_type": "restructure_outline",
                "input_slots": ["outline_map"],
                "output_slot": "scene",
            }
        ],
        "commit": [
            {"action": "write_file", "slot": "scene", "path": SCENE_5, "mode": "replace"},
            {"action": "write_file", "slot": "scene", "path": "Notes/rushed.md"},
        ],
        "dod": [{"check": "slot_not_null", "slot": "scene"}],
    }
    folder = theatre.root / ".callboard/recipes"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rush.json").write_text(json.dumps(recipe))

    def write(request: Any) -> str:
        receipt = str(request.prompt_text).split("receipt_id: ")[1].split()[0]
        return f"{BROKEN}\n\nEvidence: receipt_id: {receipt}"

    async with theatre.serve(Script(staff(restructure_outline=write))) as stage:
        run = await finished(stage, {"recipe_id": "rush", "description": "rush"})
        assert run["status"] == "failed"
        scene, notes = run["committed"]
        assert scene["mode"] == "propose" and scene["proof"]["verdict"] == "FAIL"
        assert not (theatre.root / SCENE_5).exists()
        # Nothing here judges notes: that is said, and is no pass.
        assert notes["mode"] == "create" and notes["proof"]["verdict"] == "NOT_CHECKED"
        assert [each["target"] for each in run["dod_results"] if each["check"] == "proof"] == [
            SCENE_5
        ]


async def test_a_task_of_a_plan_fails_with_its_draft(theatre: Theatre) -> None:
    async with theatre.serve(drafted(BROKEN)) as stage:
        plan = await stage.post("/plans", {"intent": "write scenes 5 and 6"}, status=201)
        await stage.post(f"/plans/{plan['plan_id']}/start")
        over = await stage.plan_until(
            plan["plan_id"], lambda now: now["tasks"][0]["status"] in ("done", "failed")
        )
        assert over["tasks"][0]["status"] == "failed"
        assert not (theatre.root / SCENE_5).exists()


async def test_a_new_card_is_held_against_the_scenes(theatre: Theatre) -> None:
    card: dict[str, Any] = {
        "path": "Compendium/Characters/CHAR-Kael.md",
        "text": "# Kael\n\nEyes: blue\n",
    }
    async with theatre.serve() as stage:
        session = await stage.studio.sessions.current()
        ran = await stage.studio.tools.run(ToolCall("proofreader", card, session.id), Policy())
        payload: Any = ran.execution.unwrap().payload
        assert payload["kind"] == "canon" and payload["verdict"] == "FAIL"
        assert all(
            any(quote["path"] == card["path"] for quote in finding["quotes"])
            for finding in payload["findings"]
        )
