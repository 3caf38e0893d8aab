"""A recipe from its start to its end: phases, slots, receipts, prompts, and the scene."""

import json
from pathlib import Path
from typing import Any

import pytest
from little_house import PROSE, SCENE, OpenHouse, bundled, detail, held, mirrored, play, says

from callboard.choreography.recipe import RunView
from callboard.choreography.staffing import agents_now
from callboard.core.canonical import digest_bytes
from callboard.core.vocabulary import RunState, SignalKind
from callboard.models import Line, ModelRequest, Script
from callboard.store.journal.events import read_events
from callboard.tools import list_receipts

pytestmark = pytest.mark.anyio


@pytest.mark.req("CR-107", "CR-108", "CR-114", "CR-129", "CR-131", "CR-132", "CR-135", "CR-105")
async def test_draft_end_to_end(open_house: OpenHouse, project: Path) -> None:
    script = Script(says())
    async with open_house(script) as studio:
        run = await play(studio)
        assert run.state is RunState.DONE, run.error
        shown = detail(studio, run)
        receipts = studio.database.read(lambda c: list_receipts(c, session_id=run.session_id))
    asked = [call.request.prompt_type for call in script.calls]
    assert asked == ["brief", "write", "polish", "check", "react"]
    assert [receipt.tool for receipt in receipts] == ["find", "outline", "canon"]
    assert (project / SCENE).read_text() == f"{PROSE} Then silence.\n"
    assert shown["current_step_index"] == shown["total_steps"] == 8
    assert shown["phase"] is None
    assert shown["committed"][0] | {"sha256": ""} == {"path": SCENE, "mode": "create", "sha256": ""}
    assert [each["passed"] for each in shown["dod_results"]] == [True] * 5

    lines = mirrored(project, run, "steps.jsonl")
    assert [line["step_index"] for line in lines] == list(range(8))
    first, brief = lines[0], lines[3]
    assert first["phase"] == "a"
    assert (first["tool"], first["agent_id"]) == ("find", None)
    assert first["receipt_id"] == receipts[0].id
    assert first["input_slot_refs"] == ["task.description"]
    assert first["output_hash"] == f"sha256:{receipts[0].payload_sha256}"
    assert (brief["tool"], brief["agent_id"], brief["receipt_id"]) == (None, "planner-001", None)
    assert brief["input_slot_refs"] == ["outline_beat", "canon_context"]
    assert brief["output_hash"] == f"sha256:{digest_bytes(b'Kael reaches the gate.')}"
    assert brief["output_preview"] == "Kael reaches the gate."
    assert brief["response_id"].startswith("resp_")
    assert brief["completed_at"].endswith("Z")

    cache = mirrored(project, run, "cache.json")
    assert [slot["type"] for slot in cache.values()] == ["pointer"] * 3 + ["artifact"] * 5
    report = cache["continuity_report"]
    assert report["data"] == {"pass": True}
    assert report["evidence"] == "scope: checked the scene"
    assert all("Evidence:" not in slot.get("text", "") for slot in cache.values())
    told = mirrored(project, run)
    assert (told["status"], told["task"]["initial_args"]) == ("done", {"scene_path": SCENE})
    assert told["run_id"] == run.id
    assert mirrored(project, run, "recipe.json") == bundled()


@pytest.mark.req("CR-03", "CR-130", "CR-170")
async def test_a_watcher_sees_the_phases_pass_and_no_model_is_asked_before_phase_b(
    open_house: OpenHouse,
) -> None:
    seen: list[tuple[Any, ...]] = []
    studio_box: list[Any] = []

    def answer(request: ModelRequest) -> Line | str:
        shown = detail(studio_box[0], str(request.run_id))
        seen.append((shown["phase"], shown["current_step_index"], shown["status"]))
        if request.prompt_type == "write":
            statuses = [step["status"] for step in shown["steps"]]
            assert statuses == ["done"] * 4 + ["running"] + ["pending"] * 3
            assert set(shown["cache_summary"]) == {
                "discovery",
                "outline_beat",
                "canon_context",
                "scene_brief",
            }
            assert shown["cache_summary"]["discovery"]["preview"] == "3 files found"
        return says()(request)

    async with open_house(Script(answer)) as studio:
        studio_box.append(studio)
        await play(studio)
    assert seen == [("b", number, "running") for number in range(3, 8)]


@pytest.mark.req("CR-04", "CR-110", "CR-116", "CR-117", "CR-143")
async def test_a_prompt_holds_the_contract_the_task_and_the_named_slots_and_nothing_else(
    open_house: OpenHouse, project: Path
) -> None:
    planted = "xylophone"
    recipe = bundled() | {"label": f"Draft {planted}", "task_patterns": ["draft scene", planted]}
    (project / ".callboard" / "recipes").mkdir(exist_ok=True)
    (project / ".callboard" / "recipes" / "draft.json").write_text(json.dumps(recipe))
    script = Script(says())
    async with open_house(script) as studio:
        await play(studio, session_plan_task_id=7)
        prompts = {call.request.prompt_type: call.request.prompt_text for call in script.calls}
    assert planted not in "".join(prompts.values())
    assert "Draft scene 5" in prompts["react"], "the task opens what does not place it"
    assert f"scene_path: {SCENE}" in prompts["write"]
    assert "You own: prose" in prompts["write"]
    assert "Kael reaches the gate." in prompts["write"]
    assert "receipt_id: rcpt_" in prompts["write"]
    assert "Kael has grey eyes." in prompts["write"]
    assert "### Arrival" not in prompts["write"], "the outline is not an input of the writer"
    assert "grey eyes" not in prompts["polish"]
    assert "Verdict" not in prompts["react"], "another agent's output is not shown"
    assert "nonce" not in "".join(prompts.values())


@pytest.mark.req("CR-109")
async def test_agents_have_no_tools_and_no_schema(open_house: OpenHouse) -> None:
    script = Script(says())
    async with open_house(script) as studio:
        await play(studio)
    assert all(call.request.json_schema is None for call in script.calls)
    assert all("canon_paths" not in call.request.prompt_text for call in script.calls)


async def test_braces_in_what_agents_say_stay_as_they_are(
    open_house: OpenHouse, project: Path
) -> None:
    text = 'Look: {{draft}} and {{nothing}}.\n\nEvidence: slot:draft "Kael crossed the yard"'
    critique = 'Hm.\n\nEvidence: slot:edited_draft "Look: {{draft}} and"'
    async with open_house(Script(says(polish=text, react=critique))) as studio:
        assert (await play(studio)).state is RunState.DONE
    assert (project / SCENE).read_text() == "Look: {{draft}} and {{nothing}}.\n"


@pytest.mark.req("CR-118")
@pytest.mark.parametrize(
    ("reply", "data"),
    [
        ("Fine.\nVerdict: PASS", {"pass": True}),
        ("Bad.\n**Verdict:** FAIL", {"pass": False}),
        ("Verdict: PASS\nno, wait\nVerdict: FAIL", {}),
        ("No verdict here, though it may PASS.", {}),
        ('```json\n{"a": 1}\n```\nand\n```json\n{"b": 2}\n```', {"b": 2}),
        ('```json\n{"a": 1}\n```\n```json\n{"b": \n```', {"a": 1}),
        ("```\n[1, 2]\n```", {"value": [1, 2]}),
    ],
)
async def test_what_a_reply_says_to_code(
    open_house: OpenHouse, reply: str, data: dict[str, Any]
) -> None:
    said = f"{reply}\n\nEvidence: scope: checked the scene"
    async with open_house(Script(says(check=said))) as studio:
        run = await play(studio)
        record = studio.engine.load(run.id)
        slot = studio.database.read(lambda c: RunView(c, record).slot("continuity_report"))
    assert slot["data"] == data


@pytest.mark.req("CR-07")
async def test_cards_show_the_chief_while_tools_run_and_each_agent_while_it_answers(
    open_house: OpenHouse,
) -> None:
    async with open_house() as studio:
        run = await play(studio)
        await studio.mirrors.flush()
        events = studio.database.read(lambda c: read_events(c, run_id=run.id))
        shown = [
            (event.body.agent_id, event.body.state)
            for event in events
            if event.body.type == "agent.state"
        ]
        assert set(agents_now(studio, "little").values()) == {"idle"}
    assert shown[:2] == [("chief-001", "executing"), ("chief-001", "idle")]
    assert ("writer-001", "processing") in shown
    assert ("chief-001", "processing") not in shown


@pytest.mark.req("CR-129")
async def test_an_edited_recipe_never_changes_a_run_under_way(
    open_house: OpenHouse, project: Path
) -> None:
    script = Script(says(brief=held("brief")))
    async with open_house(script) as studio:
        run = await studio.start("little/draft", {"description": "Draft scene 5"})
        await script.reached("brief")
        folder = project / ".callboard" / "recipes"
        recipe = bundled() | {"phase_b": bundled()["phase_b"][:1], "dod": [], "commit": []}
        (folder / "draft.json").write_text(json.dumps(recipe))
        script.release("brief")
        assert (await studio.engine.wait(run.id)).state is RunState.DONE
        assert detail(studio, run)["total_steps"] == 8
        again = await play(studio)
        assert detail(studio, again)["total_steps"] == 4


async def test_a_run_whose_recipe_was_deleted_goes_on(open_house: OpenHouse, project: Path) -> None:
    path = project / ".callboard" / "recipes" / "mine.json"
    path.write_text(json.dumps(bundled() | {"recipe_id": "mine"}))
    script = Script(says(brief=held("brief")))
    async with open_house(script) as studio:
        run = await studio.start("little/mine", {"description": "Draft scene 5"})
        await script.reached("brief")
        path.unlink()
    async with open_house() as studio:
        assert (await studio.engine.wait(run.id)).state is RunState.DONE


@pytest.mark.req("CR-173", "CR-131")
async def test_cancel_discards_a_late_reply_and_writes_nothing(
    open_house: OpenHouse, project: Path
) -> None:
    script = Script(says(polish=held("polish")))
    async with open_house(script) as studio:
        run = await studio.start("little/draft", {"description": "Draft scene 5"})
        await script.reached("polish")
        await studio.engine.signal(run.id, SignalKind.CANCEL)
        script.release("polish")
        ended = await studio.engine.wait(run.id)
        assert ended.state is RunState.CANCELLED
        shown = detail(studio, run)
    assert not (project / SCENE).exists()
    assert (shown["status"], shown["phase"], shown["current_step_index"]) == ("cancelled", None, 5)
    assert "edited_draft" not in shown["cache_summary"]
    assert "draft" in shown["cache_summary"]
    lines = mirrored(project, run, "steps.jsonl")
    assert [line["status"] for line in lines] == ["done"] * 5 + ["cancelled"]
    assert shown["dod_results"] == []
