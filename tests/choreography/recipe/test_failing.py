"""What goes wrong in a recipe halts it, has its own code, and is the user's to retry."""

import json
from pathlib import Path
from typing import Any

import pytest
from little_house import PROSE, SCENE, OpenHouse, bundled, detail, mirrored, play, says

from callboard.core.errors import Conflict, InvalidInput
from callboard.core.vocabulary import IssueKind, IssueStatus, RunState
from callboard.models import Failure, Line, Script
from callboard.store.journal.issues import IssueFilter
from callboard.tools import list_receipts

pytestmark = pytest.mark.anyio


def types_of(script: Script) -> list[str | None]:
    return [call.request.prompt_type for call in script.calls]


@pytest.mark.req("CR-111", "CR-113")
async def test_agent_failure_halts(open_house: OpenHouse, project: Path) -> None:
    script = Script(says(polish=Line(hang=True)))
    async with open_house(script, agent_timeout_seconds=0.05) as studio:
        run = await play(studio)
        shown = detail(studio, run)
        assert (shown["status"], shown["error"]["code"]) == ("failed", "agent_timeout")
        assert shown["error"]["step_id"] == "polish"
        assert shown["current_step_index"] == 5
        assert "draft" in shown["cache_summary"]
        assert types_of(script) == ["brief", "write", "polish"]
        assert shown["dod_results"] == []
    lines = mirrored(project, run, "steps.jsonl")
    assert (lines[-1]["status"], lines[-1]["error"]["code"]) == ("failed", "agent_timeout")

    mended = Script(says())
    async with open_house(mended) as studio:
        receipts = len(studio.database.read(list_receipts))
        retried = await studio.retry(run.id)
        ended = await studio.engine.wait(retried.id)
        assert ended.state is RunState.DONE, ended.error
        assert types_of(mended) == ["polish", "check", "react"]
        assert len(studio.database.read(list_receipts)) == receipts, "no tool ran again"
        shown = detail(studio, retried)
        assert shown["retried_from"] == run.id
        assert shown["session_id"] == run.session_id
        assert detail(studio, run)["status"] == "failed"
    assert len(mirrored(project, retried, "steps.jsonl")) == 8


@pytest.mark.req("CR-111", "CR-23", "CR-27", "CR-32")
@pytest.mark.parametrize(
    ("reply", "code", "word"),
    [
        (Line(fail=Failure(500, "out of paper")), "agent_error", "out of paper"),
        ("", "empty_output", "without a word"),
        ("   \n ", "empty_output", "without a word"),
        ("STOP_HOOK: the brief is unsafe", "stop_hook", "the brief is unsafe"),
        ("Fine prose without proof.", "evidence_invalid", "evidence_missing"),
        (
            f'{PROSE}\nEvidence: slot:scene_brief "never said"',
            "evidence_invalid",
            "quote_not_found",
        ),
        (f'{PROSE}\nEvidence: slot:outline_beat "Kael"', "evidence_invalid", "slot_not_visible"),
        (f"{PROSE}\nEvidence: receipt_id: rcpt_forged", "evidence_invalid", "receipt_unknown"),
        (
            f'Let me think about this.\n{PROSE}\nEvidence: slot:scene_brief "reaches the gate"',
            "evidence_invalid",
            "cot_leak",
        ),
        (
            '{"tool": "find", "args": {}}\nEvidence: slot:scene_brief "reaches the gate"',
            "evidence_invalid",
            "tool_syntax",
        ),
        ('Evidence: slot:scene_brief "Kael reaches the gate"', "empty_output", "nothing else"),
    ],
)
async def test_every_failure_of_an_agent_has_its_code_and_is_not_tried_again(
    open_house: OpenHouse, project: Path, reply: Any, code: str, word: str
) -> None:
    script = Script(says(write=reply))
    async with open_house(script) as studio:
        run = await play(studio)
        shown = detail(studio, run)
    assert (shown["status"], shown["error"]["code"]) == ("failed", code)
    assert shown["error"]["step_id"] == "write"
    assert word in shown["error"]["message"]
    assert types_of(script) == ["brief", "write"]
    assert not (project / SCENE).exists()


@pytest.mark.req("CR-32")
async def test_evidence_may_be_made_a_warning(open_house: OpenHouse, project: Path) -> None:
    script = Script(says(write="Prose without proof, but prose that lasts."))
    polish = f'{PROSE}\nEvidence: slot:draft "Prose without proof"'
    script = Script(says(write="Prose without proof, but prose that lasts.", polish=polish))
    async with open_house(script, evidence_enforcement="warn") as studio:
        run = await play(studio)
        assert run.state is RunState.DONE, run.error
        step = next(s for s in detail(studio, run)["steps"] if s["step_id"] == "write")
        assert step["status"] == "done"
    assert (project / SCENE).read_text().startswith(PROSE)


@pytest.mark.req("CR-103", "CR-112")
async def test_broken_ref(open_house: OpenHouse, project: Path) -> None:
    recipe = bundled()
    recipe["phase_a"][1]["args"]["outline_path"] = {"$ref": "discovery.matches[99].path"}
    (project / ".callboard" / "recipes" / "draft.json").write_text(json.dumps(recipe))
    script = Script(says())
    async with open_house(script) as studio:
        run = await play(studio)
        error = detail(studio, run)["error"]
    assert error["code"] == "ref_unresolved"
    assert error["step_id"] == "beats"
    assert "discovery.matches[99].path" in error["message"]
    assert "matches[99]" in error["message"].replace("discovery.matches[99].path", "")
    assert script.calls == []
    assert [line["status"] for line in mirrored(project, run, "steps.jsonl")] == ["done", "failed"]


@pytest.mark.req("CR-112", "CR-44")
async def test_a_tool_that_fails_halts_and_leaves_its_receipt(
    open_house: OpenHouse, project: Path
) -> None:
    (project / "Story" / "SCN-outline.md").write_bytes(b"\xff\xfe broken")
    script = Script(says())
    async with open_house(script) as studio:
        run = await play(studio)
        shown = detail(studio, run)
        receipts = studio.database.read(lambda c: list_receipts(c, run_id=run.id))
    assert shown["error"]["code"] == "unreadable"
    assert script.calls == []
    assert [receipt.outcome.value for receipt in receipts] == ["succeeded", "failed"]
    assert mirrored(project, run, "steps.jsonl")[1]["receipt_id"] == receipts[1].id


@pytest.mark.req("CR-119")
async def test_an_abstention_goes_on_until_somebody_needs_it(
    open_house: OpenHouse, project: Path
) -> None:
    script = Script(says(react=" Abstain \n"))
    async with open_house(script) as studio:
        run = await play(studio)
        shown = detail(studio, run)
    assert shown["error"]["code"] == "dod_failed"
    assert shown["steps"][7]["status"] == "abstained"
    failed = [each["target"] for each in shown["dod_results"] if not each["passed"]]
    assert failed == ["critique"]
    cache = mirrored(project, run, "cache.json")
    assert (cache["critique"]["abstained"], cache["critique"]["text"]) == (True, None)

    script = Script(says(write="ABSTAIN"))
    async with open_house(script) as studio:
        run = await play(studio)
        shown = detail(studio, run)
    assert (shown["error"]["code"], shown["error"]["step_id"]) == ("input_abstained", "polish")
    assert types_of(script) == ["brief", "write"]


@pytest.mark.req("CR-121", "CR-122", "CR-123", "CR-124", "CR-126")
async def test_dod_failure(open_house: OpenHouse, project: Path) -> None:
    old = "# Five\n\nThe scene as it was.\n"
    (project / SCENE).write_text(old)
    fail = "Kael's eyes are green here.\n\nVerdict: FAIL\n\nEvidence: scope: checked the scene"
    script = Script(says(check=fail))
    async with open_house(script) as studio:
        run = await play(studio)
        shown = detail(studio, run)
        assert shown["error"]["code"] == "dod_failed"
        assert [each["passed"] for each in shown["dod_results"]] == [True, True, True, False, True]
        assert (project / SCENE).read_text() == old
        (issue,) = studio.issues.list(IssueFilter(kind=IssueKind.DOD_FAILURE))
        assert issue.source.run_id == run.id
        assert run.id in issue.body
        assert len(issue.receipt_ids) == 3
        assert "continuity_report.pass" in issue.title
        (proposal,) = shown["committed"]
        assert (proposal["mode"], proposal["path"]) == ("propose", SCENE)
        again = await studio.retry(run.id, from_step="dod")
        await studio.engine.wait(again.id)
        own = studio.issues.list(IssueFilter(kind=IssueKind.DOD_FAILURE, run_id=run.id))
        assert [each.id for each in own] == [issue.id], "evaluating again adds no issue to the run"
        assert issue.status is IssueStatus.OPEN
    folder = project / ".callboard" / "runs" / run.id / "proposed"
    assert (folder / SCENE).read_text().startswith(PROSE)
    diff = (folder / f"{SCENE}.diff").read_text()
    assert "-The scene as it was." in diff
    assert f"+{PROSE}" in diff


@pytest.mark.req("CR-113")
async def test_retry_from_a_step_the_user_names(open_house: OpenHouse) -> None:
    script = Script(says(react="No proof."))
    async with open_house(script) as studio:
        run = await play(studio)
        with pytest.raises(InvalidInput, match="no step 'sing'") as caught:
            await studio.retry(run.id, from_step="sing")
        assert "polish" in str(caught.value.fix)
        script.calls.clear()
        retried = await studio.retry(run.id, from_step="write")
        await studio.engine.wait(retried.id)
        assert types_of(script) == ["write", "polish", "check", "react"]
        done = await play(studio, "report", description="consistency check scene 1")
        assert done.state is RunState.DONE, done.error
        with pytest.raises(Conflict):
            await studio.retry(done.id)


@pytest.mark.req("CR-127")
async def test_a_tool_may_have_the_last_word(open_house: OpenHouse, project: Path) -> None:
    recipe = bundled()
    check = {
        "check": "tool_passes",
        "tool": "validate",
        "args": {"text": {"$ref": "edited_draft.text"}},
        "field": "recommendation",
        "unexpected": "REVISE",
    }
    recipe["dod"].append(check)
    recipe["dod"].append({**check, "args": {"text": {"$ref": "edited_draft.nothing"}}})
    recipe["dod"].append({**check, "expected": "SHIP IT", "unexpected": None})
    (project / ".callboard" / "recipes" / "draft.json").write_text(json.dumps(recipe))
    async with open_house() as studio:
        run = await play(studio)
        results = detail(studio, run)["dod_results"]
    assert [each["passed"] for each in results[-3:]] == [True, False, False]
    assert "nothing" in results[-2]["reason"]
    assert "APPROVE" in results[-1]["reason"]


@pytest.mark.req("CR-122")
async def test_an_empty_definition_of_done_passes(open_house: OpenHouse, project: Path) -> None:
    recipe = bundled() | {"dod": []}
    (project / ".callboard" / "recipes" / "draft.json").write_text(json.dumps(recipe))
    async with open_house() as studio:
        assert (await play(studio)).state is RunState.DONE
