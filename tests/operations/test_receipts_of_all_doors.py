"""What changes something is on record, whichever door or noun it goes through: nothing is left out.

Every declared operation, every changing route and every command is told apart here by what records
it; a new one that nobody has placed fails.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from callboard.api.app import create_app
from callboard.cli.command_apps import app_of
from callboard.cli.main import main
from callboard.cli.table import names
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import (
    IssueDraft,
    IssueKind,
    IssueSource,
    RunState,
    SignalKind,
)
from callboard.models import Script
from callboard.models.accounts import Limits, Scope, ScopeKind
from callboard.operations import runtime
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing import SCRIPTED
from callboard.tools import list_receipts
from door_receipts import LOOKS, RUNS

NOTE = IssueDraft("Look at this", IssueSource(IssueKind.NOTE))

# Commands that change nothing.
READING = """
agents; alfred entities; alfred export; alfred list; alfred why; config show; doctor; evidence;
budget list; factory alerts; factory changes; factory decisions; factory filed; factory graph
around; factory graph central; factory graph path; factory notebook ask; factory notebook list;
factory order; factory prompts; factory proposals; factory state; factory timeline; factory
variants; factory versions; factory voices; issues list; issues show; models list; models status;
models test; packs list; plan list; plan show; prompts list; prompts show; quest artifacts; quest
canon conflicts; quest canon list; quest canon show; quest canon why; quest context report;
quest hooks list; quest hooks show; quest loop show; quest loops; quest play;
quest prompts check; quest sections; quest tu list; quest tu show; quest waivers list; receipts
list; receipts show; receipts verify; recipes list; recipes show; route; runs events; runs list;
runs proposals; runs show; runs slot;
runs steps; runs watch; serve; sessions list; sessions show; store show; tool list; tool show; usage
"""
# Commands that begin a run, or take one up: its journal is the record.
STARTING = """
alfred send; alfred undo; chat; conference; continuity; demo; plan new; run; runs fork; runs retry;
factory chat; quest archive; quest chain; quest demo; quest next; quest resume; quest role
ask; quest run
"""
# Commands about this machine or about a folder that is not yet a project.
OF_THE_MACHINE = """
auth remove; auth status; auth store; auth tie; auth untie; init; models pull; store copy;
trust
"""
# Commands that change a project: each leaves a receipt, itself or by the run it begins.
CHANGING = """
alfred import; alfred onboard; alfred people; alfred seed; answer; budget clear; budget set;
issues add; issues close; issues link; issues reopen; models reset; plan answer; plan edit; plan
force; plan pause; plan remove; plan reorder; plan resume; plan retry; plan start; runs apply;
runs cancel; runs pause; runs resume; sessions complete; sessions create; sessions resume;
sessions suspend; sessions switch; tool run; factory accept; factory analyze; factory approve;
factory audit; factory bundle; factory cast; factory chapter; factory complete; factory conflicts;
factory consolidate; factory correct; factory decide; factory edit; factory enhance; factory
export; factory forget; factory graph export; factory health; factory hybrid; factory import;
factory lock; factory mode; factory new; factory notebook add; factory notebook remove; factory
outline; factory reopen; factory scaffold; factory select; factory template; factory theme;
factory title-page; factory tournament; factory undo; factory voice-report; factory waive; factory
winner; factory write; quest bind; quest canon rebuild; quest describe;
quest gate; quest import; quest init; quest
lessons approve; quest restore; quest snapshots; quest tu defer; quest tu reject; quest waive; quest
waivers withdraw
"""
# What may be said in a new project, in this order; each leaves a receipt.
SAID = [
    ("sessions", "create", "first"),
    ("sessions", "create", "second"),
    ("sessions", "switch", "first"),
    ("sessions", "suspend", "first"),
    ("sessions", "resume", "first"),
    ("sessions", "complete", "second"),
    ("issues", "add", "A note"),
    ("issues", "close", "1"),
    ("issues", "reopen", "1"),
    ("issues", "link", "1", "--session", "first"),
    ("budget", "set", "project", "--usd", "5", "--calls", "+3"),
    ("budget", "clear", "project"),
    ("alfred", "seed"),
    ("alfred", "people", "--add", "ann"),
    ("tool", "run", "search_text", "--arg", "text=salt"),
]


def placed(*tables: str) -> list[str]:
    return [" ".join(each.split()) for table in tables for each in table.split(";")]


def commands(words: tuple[str, ...], app: Any) -> list[str]:
    own = [each.name or each.callback.__name__ for each in app.registered_commands]
    is_group = len(own) > 1 or app.registered_callback is not None
    found = [" ".join((*words, name)) for name in own] if is_group else [" ".join(words)]
    for group in app.registered_groups:
        found += commands((*words, group.name), group.typer_instance)
    return found


def test_every_command_is_told_apart_by_what_records_it() -> None:
    known = [each for name in names() for each in commands((name,), app_of(name))]
    listed = placed(READING, STARTING, OF_THE_MACHINE, CHANGING)
    assert len(known) > 100
    assert sorted(listed) == sorted(set(listed)) == sorted(known)


def test_every_changing_route_is_told_apart_by_what_records_it() -> None:
    app = create_app(Path())
    app.state.pack_routes.include_all()
    changing = {
        f"{method.upper()} {path}"
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if method != "get"
    }
    assert len(changing) > 70
    assert not LOOKS & RUNS
    assert changing >= LOOKS | RUNS


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = Project.init(tmp_path / "plot").root
    monkeypatch.chdir(found)
    return found


def receipts(root: Path) -> list[Any]:
    async def read() -> list[Any]:
        async with Studio.open(root, Opening(recover=False)) as studio:
            return studio.database.read(list_receipts)

    return asyncio.run(read())


def test_commands_leave_receipts_in_the_session_they_are_about(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = 0
    for words in SAID:
        assert main(list(words)) == 0, (words, capsys.readouterr().err)
        after = len(receipts(root))
        assert after > before, words
        before = after
    kept = receipts(root)
    sessions = {each.tool: each.session_id for each in kept if "session" in each.tool}
    assert sessions["callboard.suspend_session"] == sessions["callboard.resume_session"]
    assert sessions["callboard.complete_session"] != sessions["callboard.resume_session"]
    capsys.readouterr()
    assert main(["receipts", "verify", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["is_sound"] is True


@pytest.mark.anyio
async def test_a_signal_is_on_record_in_the_session_of_its_run(tmp_path: Path) -> None:
    root = Project.init(tmp_path / "plot").root
    opening = Opening(providers={"script": Script()}, flags=SCRIPTED)
    async with Studio.open(root, opening) as studio:
        run = await studio.start("examples/recipe", dispatch=False)
        other = await runtime.begin_session(studio, "another")
        signal = await runtime.send_signal(studio, run.id, SignalKind.CANCEL, "enough")
        assert signal.acknowledged_state is RunState.CANCELLED
        kept = studio.database.read(list_receipts)
        assert {each.tool: each.session_id for each in kept} == {
            "callboard.create_session": other.id,
            "callboard.signal_run": run.session_id,
        }


@pytest.mark.anyio
async def test_what_fails_is_on_record_as_well(tmp_path: Path) -> None:
    root = Project.init(tmp_path / "plot").root
    opening = Opening(providers={"script": Script()}, flags=SCRIPTED)
    async with Studio.open(root, opening) as studio:
        at = runtime.runtime(studio)
        issue = await at.perform(runtime.add_issue, NOTE)
        await at.perform(runtime.set_budget, Scope(ScopeKind.PROJECT), Limits(calls=5))
        with pytest.raises(CallboardError):
            await at.perform(runtime.close_issue, issue.id + 1)
        kept = studio.database.read(list_receipts)
        assert [(each.tool, each.outcome.value) for each in kept] == [
            ("callboard.add_issue", "succeeded"),
            ("callboard.set_budget", "succeeded"),
            ("callboard.close_issue", "failed"),
        ]
