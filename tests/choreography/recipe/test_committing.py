"""Commit: nothing of the user's is overwritten without consent, nothing leaves the project."""

import json
from pathlib import Path
from typing import Any

import pytest
from little_house import OUTLINE, PROSE, SCENE, OpenHouse, bundled, detail, held, play, says

from callboard.choreography.recipe import ProposalOutdated, apply_proposals, list_proposals
from callboard.core.errors import Conflict, NotFound
from callboard.core.vocabulary import IssueKind, IssueStatus, RunState
from callboard.models import Script
from callboard.store.journal.issues import IssueFilter
from callboard.studio.studio import Studio
from callboard.tools import list_receipts

pytestmark = pytest.mark.anyio

OLD = "# Five\n\nThe scene as it was.\n"
NEW = f"{PROSE} Then silence.\n"


def use(project: Path, **commit: Any) -> None:
    recipe = bundled()
    recipe["commit"][0] |= commit
    (project / ".callboard" / "recipes" / "draft.json").write_text(json.dumps(recipe))


def only(studio: Studio, run: Any) -> dict[str, Any]:
    (committed,) = detail(studio, run)["committed"]
    return committed


@pytest.mark.req("CR-125")
@pytest.mark.parametrize("old", [None, "", "  \n"])
async def test_by_default_what_is_not_there_is_created(
    open_house: OpenHouse, project: Path, old: str | None
) -> None:
    if old is not None:
        (project / SCENE).write_text(old)
    async with open_house() as studio:
        run = await play(studio)
        assert only(studio, run)["mode"] == "create"
    assert (project / SCENE).read_text() == NEW


@pytest.mark.req("CR-125")
async def test_by_default_what_is_there_is_proposed(open_house: OpenHouse, project: Path) -> None:
    (project / SCENE).write_text(OLD)
    async with open_house() as studio:
        run = await play(studio)
        assert run.state is RunState.DONE
        committed = only(studio, run)
        assert (committed["mode"], committed["reason"]) == ("propose", f"{SCENE} exists already")
        issue = studio.issues.get(committed["issue"])
        assert issue.source.kind is IssueKind.PROPOSAL
        assert "-The scene as it was." in issue.body
        assert run.id in issue.body
    assert (project / SCENE).read_text() == OLD


@pytest.mark.req("CR-125")
async def test_create_refuses_what_is_there(open_house: OpenHouse, project: Path) -> None:
    use(project, mode="create")
    (project / SCENE).write_text(OLD)
    async with open_house() as studio:
        run = await play(studio)
        shown = detail(studio, run)
    assert shown["error"]["code"] == "commit_refused"
    assert shown["error"]["step_id"] == "commit"
    assert (project / SCENE).read_text() == OLD


@pytest.mark.req("CR-125")
async def test_replace_keeps_the_old_version_in_the_run_folder(
    open_house: OpenHouse, project: Path
) -> None:
    use(project, mode="replace")
    (project / SCENE).write_text(OLD)
    async with open_house() as studio:
        run = await play(studio)
        assert only(studio, run)["mode"] == "replace"
    assert (project / SCENE).read_text() == NEW
    backup = project / ".callboard" / "runs" / run.id / "backup" / SCENE
    assert backup.read_text() == OLD


@pytest.mark.parametrize("mode", ["replace", "create", None])
async def test_a_file_edited_while_the_run_used_it_is_not_overwritten(
    open_house: OpenHouse, project: Path, mode: str | None
) -> None:
    if mode is not None:
        use(project, mode=mode)
    if mode == "replace":
        (project / SCENE).write_text(OLD)
    script = Script(says(react=held("react")))
    async with open_house(script) as studio:
        run = await studio.start("little/draft", {"description": "Draft scene 5"})
        await script.reached("react")
        (project / SCENE).write_text("The author was quicker.\n")
        script.release("react")
        await studio.engine.wait(run.id)
        committed = only(studio, run)
    assert committed["mode"] == "propose"
    assert "changed while the run was under way" in committed["reason"]
    assert (project / SCENE).read_text() == "The author was quicker.\n"


async def test_the_receipt_tells_the_hash_of_a_file_only_a_tool_found(
    open_house: OpenHouse, project: Path
) -> None:
    use(project, path={"$ref": "discovery.outline_path"}, mode="replace")
    script = Script(says(react=held("react")))
    async with open_house(script) as studio:
        run = await studio.start("little/draft", {"description": "Draft scene 5"})
        await script.reached("react")
        (project / OUTLINE).write_text("# Mine\n")
        script.release("react")
        await studio.engine.wait(run.id)
        assert only(studio, run)["mode"] == "propose"
    assert (project / OUTLINE).read_text() == "# Mine\n"


@pytest.mark.req("CR-126")
async def test_a_draft_that_was_not_judged_is_only_proposed(
    open_house: OpenHouse, project: Path
) -> None:
    check = "I cannot say.\n\nEvidence: scope: checked the scene"
    async with open_house(Script(says(check=check))) as studio:
        run = await play(studio)
        assert only(studio, run)["mode"] == "propose"
        assert "pass" in only(studio, run)["reason"]
    assert not (project / SCENE).exists()


@pytest.mark.req("CR-36", "CR-125")
@pytest.mark.parametrize(
    "path",
    [
        "../outside.md",
        "/etc/passwd.md",
        ".callboard/config.md",
        ".git/hooks/x.md",
        "Story/run.py",
        "link/out.md",
        "Story/Scenes/",
    ],
)
async def test_no_result_leaves_the_project_or_becomes_code(
    open_house: OpenHouse, project: Path, path: str
) -> None:
    (project.parent / "elsewhere").mkdir()
    (project / "link").symlink_to(project.parent / "elsewhere")
    use(project, path=path)
    script = Script(says())
    async with open_house(script) as studio:
        with pytest.raises(Exception) as caught:
            await studio.start("little/draft", {"description": "Draft scene 5"})
    assert getattr(caught.value, "code", "") in ("commit_refused", "path_outside_project")
    assert script.calls == [], "it is refused before anybody is asked"


@pytest.mark.req("CR-175")
async def test_a_proposal_is_looked_at_applied_with_a_backup_and_its_issue_closed(
    open_house: OpenHouse, project: Path
) -> None:
    (project / SCENE).write_text(OLD)
    async with open_house() as studio:
        run = await play(studio)
        (shown,) = await list_proposals(studio, run.id)
        assert not shown.is_applied
        assert "-The scene as it was." in shown.diff
        assert (project / SCENE).read_text() == OLD, "looking changes nothing"
        receipts = len(studio.database.read(list_receipts))
        await apply_proposals(studio, run.id)
        assert (project / SCENE).read_text() == NEW
        issue = studio.issues.get(shown.issue)
        assert issue.status is IssueStatus.CLOSED
        assert len(studio.database.read(list_receipts)) == receipts + 1
        with pytest.raises(Conflict, match="already holds"):
            await apply_proposals(studio, run.id)
        with pytest.raises(NotFound):
            await apply_proposals(studio, run.id, path="Other.md")
    backups = list((project / ".callboard" / "backups").rglob("SCN-05.md"))
    assert [path.read_text() for path in backups] == [OLD]


async def test_where_nothing_is_proposed_the_way_out_says_where_to_look(
    open_house: OpenHouse,
) -> None:
    async with open_house() as studio:
        run = await play(studio)
        with pytest.raises(NotFound, match="has no proposal") as caught:
            await apply_proposals(studio, run.id)
    assert "runs show" in (caught.value.fix or "")


async def test_a_proposal_for_a_file_that_changed_since_needs_force(
    open_house: OpenHouse, project: Path
) -> None:
    (project / SCENE).write_text(OLD)
    async with open_house() as studio:
        run = await play(studio)
        (project / SCENE).write_text("Edited after the run.\n")
        with pytest.raises(ProposalOutdated) as caught:
            await apply_proposals(studio, run.id)
        assert "-Edited after the run." in caught.value.context["diff"]
        assert (project / SCENE).read_text() == "Edited after the run.\n"
        await apply_proposals(studio, run.id, force=True)
    assert (project / SCENE).read_text() == NEW


@pytest.mark.req("CR-99")
async def test_findings_become_issues_once(open_house: OpenHouse) -> None:
    async with open_house() as studio:
        for _ in range(2):
            run = await play(studio, "report", description="consistency check scene 1")
            assert run.state is RunState.DONE, run.error
        issues = studio.issues.list(IssueFilter(kind=IssueKind.FINDING))
    assert [(each.title, each.priority.value) for each in issues] == [
        ("Factual: minor thing", "normal"),
        ("Factual: major thing", "high"),
    ]
    assert "> Kael has grey eyes." in issues[0].body
    assert len(issues[0].receipt_ids) == 1
