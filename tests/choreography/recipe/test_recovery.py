"""Recovery: whatever a crash interrupts, nothing finished is repeated, lost or written twice."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from little_house import PROSE, SCENE, OpenHouse, detail, held, mirrored, play, says

from callboard.choreography.recipe import RunView
from callboard.core.vocabulary import IssueKind, RunState
from callboard.models import Script
from callboard.store.journal.runs import list_runs
from callboard.studio.project import Project
from callboard.testing import COMMIT_POINTS, Blackout, Moment, Passages
from callboard.tools import list_receipts, verify

pytestmark = pytest.mark.anyio


def killed_while_asking(project: Path, prompt_type: str) -> str:
    """Let another process play, kill it during an agent's call, and return the run it leaves."""
    performer = Path(__file__).parent / "performer.py"
    with subprocess.Popen(
        [sys.executable, str(performer), str(project), prompt_type],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        run_id = process.stdout.readline().strip()
        process.kill()
    return run_id


@pytest.mark.req("CR-134", "CR-136", "CR-137")
async def test_crash_and_resume(open_house: OpenHouse, project: Path) -> None:
    run_id = killed_while_asking(project, "write")
    folder = project / ".callboard" / "runs" / run_id
    script = Script(says())
    async with open_house(script) as studio:
        ended = await studio.engine.wait(run_id)
        assert ended.state is RunState.DONE, ended.error
        receipts = studio.database.read(list_receipts)
        assert len(receipts) == 3, "no tool ran again"
    asked = [call.request.prompt_type for call in script.calls]
    assert asked == ["write", "polish", "check", "react"]
    assert len((folder / "steps.jsonl").read_text().splitlines()) == 8


async def test_a_corrupted_cache_is_written_anew_from_the_journal(
    open_house: OpenHouse, project: Path
) -> None:
    script = Script(says(polish=held("polish")))
    async with open_house(script) as studio:
        run = await studio.start("little/draft", {"description": "Draft scene 5"})
        await script.reached("polish")
        studio.mirrors.touch(run.id, run.session_id)
        await studio.mirrors.flush()
    cache = project / ".callboard" / "runs" / run.id / "cache.json"
    held_now = json.loads(cache.read_text())
    held_now["draft"]["text"] = "forged"
    cache.write_text(json.dumps(held_now))
    script = Script(says())
    async with open_house(script) as studio:
        assert (await studio.engine.wait(run.id)).state is RunState.DONE
    assert [call.request.prompt_type for call in script.calls] == ["polish", "check", "react"]
    assert mirrored(project, run, "cache.json")["draft"]["text"] == PROSE
    shutil.rmtree(project / ".callboard" / "runs" / run.id)
    async with open_house() as studio:
        await studio.mirrors.flush()
    assert mirrored(project, run)["status"] == "done"


NOTE = {"description": "Write note for scene 5"}
NOTED = "Nothing.\n\nVerdict: PASS\n"


async def passages(open_house: OpenHouse, project: Path, **said: Any) -> dict[str, int]:
    """Count the commit points of an undisturbed run, and clean up after it."""
    counted = Passages()
    async with open_house(Script(says(**said)), opening={"faults": counted}) as studio:
        await play(studio, "note", **NOTE)
    begin_again(project)
    return dict(counted.counts)


def begin_again(project: Path) -> None:
    shutil.rmtree(project / ".callboard")
    Project.init(project)
    (project / SCENE).unlink(missing_ok=True)


async def crash_and_recover(
    open_house: OpenHouse, moment: Moment, **said: Any
) -> tuple[dict[str, Any], list[str | None]]:
    """Cut the power at a moment, open the project again, and return the run as it ended."""
    script = Script(says(**said))
    try:
        async with open_house(script, opening={"faults": Blackout(moment)}) as studio:
            run = await studio.start("little/note", NOTE)
            await studio.engine.wait(run.id)
    except Exception:  # noqa: BLE001, S110 - without power anything may fail
        pass
    async with open_house(script) as studio:
        runs = studio.database.read(list_runs)
        run_id = runs[0].id if runs else (await play(studio, "note", **NOTE)).id
        ended = await studio.engine.wait(run_id)
        shown = detail(studio, ended)
        trail = verify(studio.database, studio.project.trail)
        assert trail.flaws == ()
        shown["receipts"] = len(studio.database.read(list_receipts))
        shown["issues"] = [each.source.kind for each in studio.issues.list()]
        shown["lines"] = studio.database.read(lambda c: RunView(c, ended).lines())
    return shown, [call.request.prompt_type for call in script.calls]


@pytest.mark.req("CR-136", "CR-137")
@pytest.mark.parametrize(
    "point", [point for point in COMMIT_POINTS if not point.startswith("question")]
)
async def test_power_lost_at_every_commit_point(
    open_house: OpenHouse, project: Path, point: str
) -> None:
    counts = await passages(open_house, project)
    assert counts.get(point), f"{point} is never passed: {counts}"
    for nth in range(1, counts[point] + 1, 2 if point.startswith("store") else 1):
        shown, asked = await crash_and_recover(open_house, Moment(point, nth))
        place = f"{point} #{nth}"
        assert shown["status"] == "done", (place, shown["error"])
        assert [line["step_id"] for line in shown["lines"]] == ["gather_canon", "note"], place
        assert shown["receipts"] == 1, place
        assert (project / SCENE).read_text() == NOTED, place
        assert shown["committed"][0]["mode"] == "create", place
        assert shown["issues"] == [IssueKind.FINDING], place
        # An agent is asked again only if its answer had not been recorded.
        assert asked in (["report"], ["report"] * 2), place
        begin_again(project)


@pytest.mark.req("CR-123", "CR-137")
async def test_power_lost_around_the_definition_of_done_never_doubles_an_issue(
    open_house: OpenHouse, project: Path
) -> None:
    fail = "Green eyes.\n\nVerdict: FAIL\n\nEvidence: scope: checked the scene"
    counts = await passages(open_house, project, report=fail)
    total = counts["store.before_commit"]
    for nth in range(max(1, total - 7), total + 1):
        moment = Moment("store.before_commit", nth)
        shown, _ = await crash_and_recover(open_house, moment, report=fail)
        assert shown["error"]["code"] == "dod_failed"
        # The verdict, the file that is only proposed, the finding, the proposal: each once.
        assert sorted(shown["issues"]) == ["dod_failure", "dod_failure", "finding", "proposal"]
        assert not (project / SCENE).exists()
        begin_again(project)


@pytest.mark.req("CR-137")
async def test_manual_marks_an_interrupted_run_and_leaves_it_to_the_user(
    open_house: OpenHouse, project: Path
) -> None:
    run_id = killed_while_asking(project, "polish")
    config = project / ".callboard" / "config.yaml"
    config.write_text("engine:\n  resume_on_start: manual\n")
    script = Script(says())
    async with open_house(script) as studio:
        shown = detail(studio, run_id)
        assert (shown["status"], shown["error"]["code"]) == ("failed", "interrupted")
        assert script.calls == []
        again = await studio.retry(run_id)
        assert (await studio.engine.wait(again.id)).state is RunState.DONE
    assert [call.request.prompt_type for call in script.calls] == ["polish", "check", "react"]


async def test_a_fork_goes_on_with_the_humans_own_text(
    open_house: OpenHouse, project: Path
) -> None:
    async with open_house() as studio:
        run = await play(studio)
    (project / SCENE).unlink()
    mine = "Kael crossed the yard, and nobody saw him go."
    react = 'Good.\n\nEvidence: slot:edited_draft "nobody saw him go"'
    script = Script(says(polish=f'{mine}\n\nEvidence: slot:draft "nobody saw"', react=react))
    async with open_house(script) as studio:
        forked = await studio.engine.fork(run.id, edits={"draft": mine})
        ended = await studio.engine.wait(forked.id)
        assert ended.state is RunState.DONE, ended.error
        shown = detail(studio, forked)
        slot = studio.database.read(lambda c: RunView(c, ended).slot("draft"))
    assert [call.request.prompt_type for call in script.calls] == ["polish", "check", "react"]
    assert slot["text"] == mine
    assert shown["forked_from"] == run.id
