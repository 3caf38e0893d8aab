"""Issues: numbered, left behind once, linked to receipts, and readable without a database."""

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.core.errors import InvalidInput, NotFound
from callboard.core.events import IssueChanged
from callboard.core.vocabulary import (
    IssueDraft,
    IssueKind,
    IssuePriority,
    IssueSource,
    IssueStatus,
    RunState,
)
from callboard.models import Script
from callboard.store.journal.events import read_events
from callboard.store.journal.issues import IssueFilter
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import open_scripted
from callboard.tools import Policy, ToolCall

pytestmark = pytest.mark.anyio

NOTE = IssueSource(IssueKind.NOTE)

_PLAY = """
from typing import Any
from callboard.choreography import Stage, choreography
from callboard.choreography.conference.records import leave_issue
from callboard.core.vocabulary import IssueDraft, IssueKind, IssueSource

@choreography
async def play(stage: Stage) -> Any:
    found = await stage.tool("look", "search_text", text="lamp")
    source = IssueSource(IssueKind.DOD_FAILURE)
    left = []
    for check in range(2):
        draft = IssueDraft(
            f"Check {check} failed", source, f"Expected a lamp in {stage.run.id}",
            tags=("dod",), receipt_ids=(found.receipt_id,),
        )
        left.append((await leave_issue(stage, f"issue/{check}", draft)).id)
    await stage.step("end", lambda: 1)
    return left
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "story"
    (root / "Story").mkdir(parents=True)
    (root / "Story/one.md").write_text("The lamp turns.\n")
    Project.init(root)
    return root


@asynccontextmanager
async def opened(project: Path, *packs: Path, **flags: Any) -> AsyncIterator[Studio]:
    async with open_scripted(project, Script("unused"), *packs, flags=flags) as studio:
        yield studio


def copy_of(project: Path) -> Any:
    return json.loads((project / ".callboard/issues/issues.json").read_text())


async def look(studio: Studio, session_id: str) -> str:
    call = ToolCall(tool="search_text", args={"text": "lamp"}, session_id=session_id)
    return (await studio.tools.run(call, Policy(None, studio.allowed_tools))).receipt.id


async def test_issues_are_numbered_listed_closed_and_opened_again(project: Path) -> None:
    async with opened(project) as studio:
        first = await studio.issues.add(IssueDraft("  One\nthing ", NOTE, tags=("a", "a", "b")))
        second = await studio.issues.add(
            IssueDraft("Another", IssueSource(IssueKind.FINDING), priority=IssuePriority.HIGH)
        )
        assert [first.id, second.id] == [1, 2]
        assert (first.title, first.tags) == ("One thing", ("a", "b"))
        assert [each.id for each in studio.issues.list()] == [2, 1]
        closed = await studio.issues.close(1)
        assert closed.status is IssueStatus.CLOSED
        only_open = studio.issues.list(IssueFilter(status=IssueStatus.OPEN))
        assert [each.id for each in only_open] == [2]
        assert [i.id for i in studio.issues.list(IssueFilter(kind=IssueKind.FINDING))] == [2]
        assert [i.id for i in studio.issues.list(IssueFilter(tag="b"))] == [1]
        assert (await studio.issues.reopen(1)).status is IssueStatus.OPEN
        with pytest.raises(NotFound, match="#3"):
            await studio.issues.close(3)
        with pytest.raises(InvalidInput, match="title"):
            await studio.issues.add(IssueDraft(" \n ", NOTE))
        assert studio.issues.exists(2)
        assert not studio.issues.exists(3)


@pytest.mark.req("CR-123")
async def test_the_same_key_never_leaves_a_second_issue(project: Path) -> None:
    draft = IssueDraft("Failed", IssueSource(IssueKind.DOD_FAILURE, "run_x"), key="run_x:dod:0")
    async with opened(project) as studio:
        first = await studio.issues.add(draft)
        await studio.issues.close(first.id)
        again = await studio.issues.add(draft)
        other = await studio.issues.add(IssueDraft("Failed", draft.source, key="run_x:dod:1"))
        events = studio.database.read(lambda c: read_events(c))
    assert again.id == first.id
    # What the human closed stays closed.
    assert again.status is IssueStatus.CLOSED
    assert other.id == 2
    told = [each.body for each in events if isinstance(each.body, IssueChanged)]
    assert [(each.number, each.status) for each in told] == [
        (1, "open"),
        (1, "closed"),
        (2, "open"),
    ]


@pytest.mark.req("CR-123")
async def test_a_step_leaves_an_issue_once_with_run_session_and_receipts(
    project: Path, tmp_path: Path
) -> None:
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "play.py").write_text(_PLAY)
    (pack / "pack.yaml").write_text("name: mine\nchoreographies: {play: 'play.py:play'}\n")
    async with opened(project, pack) as studio:
        run = await studio.start("mine/play")
        ended = await studio.engine.wait(run.id)
        assert ended.state is RunState.DONE, ended.error
        fork = await studio.engine.fork(run.id, from_step="end")
        await studio.engine.wait(fork.id)
        issues = studio.issues.list()
    assert ended.result == [1, 2]
    assert [each.id for each in issues] == [2, 1]
    issue = issues[-1]
    assert issue.source.run_id == run.id
    assert issue.source.session_id == run.session_id
    assert issue.source.step_id == "issue/0"
    assert len(issue.receipt_ids) == 1
    assert copy_of(project)["issues"][0]["source"]["kind"] == "dod_failure"


async def test_an_issue_of_a_transaction_that_fails_is_not_left(project: Path) -> None:
    async with opened(project) as studio:

        def work(connection: Any) -> None:
            studio.issues.add_with(connection, IssueDraft("Never", NOTE))
            raise InvalidInput("no")

        with pytest.raises(InvalidInput):
            await studio.database.write(work)
        assert studio.issues.list() == []


@pytest.mark.req("CR-88")
async def test_receipts_of_a_session_are_linked_to_an_issue(project: Path) -> None:
    async with opened(project) as studio:
        here = await studio.sessions.create("here")
        there = await studio.sessions.create("there")
        mine = [await look(studio, here.id), await look(studio, here.id)]
        foreign = await look(studio, there.id)
        issue = await studio.issues.add(IssueDraft("Transcript", NOTE, receipt_ids=mine[:1]))
        linked = await studio.audit.link_issue(here.id, issue.id)
        assert linked.receipt_ids == tuple(mine)
        again = await studio.audit.link_issue("here", issue.id)
        assert again.receipt_ids == tuple(mine)
        with pytest.raises(InvalidInput, match=foreign):
            await studio.audit.link_issue(here.id, issue.id, [foreign])
        with pytest.raises(NotFound):
            await studio.audit.link_issue("nowhere", issue.id)
        with pytest.raises(NotFound, match="#9"):
            await studio.audit.link_issue(here.id, 9)
        with pytest.raises(NotFound, match="rcpt_made_up"):
            await studio.issues.link_receipts(issue.id, ["rcpt_made_up"])
        shown = studio.audit.receipts("here")
        full = studio.audit.receipt(mine[0])
        with pytest.raises(NotFound):
            studio.audit.receipt("rcpt_made_up")
    assert [each["receipt_id"] for each in shown] == mine
    assert full["issue_ids"] == [issue.id]
    assert (full["tool_id"], full["status"], full["signature_alg"]) == (
        "search_text",
        "ok",
        "hmac-sha256",
    )
    assert full["signature_valid"] is True
    assert full["inputs"]["text"] == "lamp"
    assert full["output"] and full["output_sha256"]


@pytest.mark.req("CR-86", "CR-88")
async def test_a_changed_receipt_says_so_wherever_it_is_shown(project: Path) -> None:
    async with opened(project) as studio:
        session = await studio.sessions.create("here")
        receipt = await look(studio, session.id)
        assert studio.audit.receipt(receipt)["signature_valid"]
        mirror = project / f".callboard/audit/sessions/{session.id}/tool_receipts.jsonl"
        mirror.write_text(mirror.read_text().replace("lamp", "limp", 1))
        assert not studio.audit.receipt(receipt)["signature_valid"]


async def test_the_copy_follows_and_is_made_again(project: Path) -> None:
    async with opened(project) as studio:
        await studio.issues.add(IssueDraft("One", NOTE, "Text \u2014 with all of it"))
        await studio.issues.add(IssueDraft("Two", NOTE))
        shown = copy_of(project)
        assert [each["id"] for each in shown["issues"]] == [2, 1]
        assert shown["issues"][1]["body"] == "Text \u2014 with all of it"
        assert shown["issues"][0]["created_at"].endswith("Z")
        await studio.issues.close(2)
        assert copy_of(project)["issues"][0]["status"] == "closed"
        assert copy_of(project)["revision"] > shown["revision"]
    shutil.rmtree(project / ".callboard/issues")
    async with opened(project):
        assert [each["id"] for each in copy_of(project)["issues"]] == [2, 1]
    (project / ".callboard/issues/issues.json").write_text("{broken")
    async with opened(project) as studio:
        assert len(copy_of(project)["issues"]) == 2
        assert not studio.issues.sync_mirror()


async def test_no_copy_is_kept_where_mirrors_are_off(project: Path) -> None:
    async with opened(project, engine={"mirror": False}) as studio:
        await studio.issues.add(IssueDraft("One", NOTE))
    assert not (project / ".callboard/issues").exists()


async def test_a_copy_that_cannot_be_written_fails_nothing(project: Path) -> None:
    (project / ".callboard/issues").write_text("in the way")
    async with opened(project) as studio:
        issue = await studio.issues.add(IssueDraft("One", NOTE))
        assert studio.issues.get(issue.id).title == "One"
