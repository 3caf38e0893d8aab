"""`callboard issues` and `callboard evidence`, called in this process."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callboard.cli.main import main
from callboard.cli.views.lines import describe, is_worth_a_line
from callboard.core.events import Event, EvidenceChecked, IssueChanged
from callboard.store.journal.verdicts import VerdictRecord, insert_verdict
from callboard.store.sqlite.database import SqliteDatabase
from callboard.studio.project import Project

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    root = tmp_path / "story"
    root.mkdir()
    Project.init(root)
    monkeypatch.chdir(root)

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(list(words))
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def told(call: Call, *words: str) -> Any:
    code, out, err = call(*words, "--json")
    assert code == 0, err
    return json.loads(out)


def test_an_empty_project_has_none(call: Call) -> None:
    code, out, err = call("issues", "list")
    assert (code, out) == (0, "")
    assert "No open issues." in err
    assert told(call, "evidence") == {
        "verdicts": [],
        "totals": {"accepted": 0, "abstained": 0, "rejected": 0},
        "codes": {},
    }


def test_a_note_from_first_to_last(call: Call) -> None:
    added = told(
        call, "issues", "add", "Fix the eyes", "--body", "Grey!", "--priority", "high", "--tag", "k"
    )
    (issue,) = added["issues"]
    assert issue["id"] == 1
    assert issue["source"]["kind"] == "note"
    assert (issue["priority"], issue["tags"]) == ("high", ["k"])
    _, out, _ = call("issues", "list")
    assert "#1" in out and "Fix the eyes" in out
    _, out, _ = call("issues", "show", "1")
    assert "Grey!" in out and "high" in out
    code, out, _ = call("issues", "close", "1")
    assert (code, out) == (0, "Issue #1 is closed: Fix the eyes\n")
    assert told(call, "issues", "list")["issues"] == []
    assert told(call, "issues", "list", "--all")["total"] == 1
    assert told(call, "issues", "reopen", "1")["issues"][0]["status"] == "open"
    assert told(call, "issues", "list", "--kind", "finding")["issues"] == []
    assert told(call, "issues", "show", "1")["issue"]["body"] == "Grey!"


def test_what_is_not_there_is_named(call: Call) -> None:
    call("issues", "add", "One")
    code, _, err = call("issues", "show", "7")
    assert code != 0
    assert "#7" in err
    code, _, err = call("issues", "list", "--kind", "rumour")
    assert code != 0
    assert "rumour" in err and "transcript" in err
    code, _, err = call("issues", "link", "1")
    assert code != 0
    assert "--session" in err


@pytest.mark.req("CR-88")
def test_receipts_are_linked_from_the_command_line(call: Call) -> None:
    call("issues", "add", "One")
    call("sessions", "create", "here")
    begun = told(call, "receipts", "list", "--session", "here")["receipts"]
    linked = told(call, "issues", "link", "1", "--session", "here")["issues"][0]["receipt_ids"]
    assert linked == [each["receipt_id"] for each in begun] != []
    code, _, err = call("issues", "link", "1", "--receipt", "rcpt_nowhere")
    assert code != 0
    assert "rcpt_nowhere" in err


@pytest.mark.req("CR-33")
def test_verdicts_and_their_counters(call: Call, tmp_path: Path) -> None:
    call("sessions", "create", "here")
    database = SqliteDatabase.open(tmp_path / "story/.callboard/callboard.db")

    def store(connection: Any) -> None:
        for n, codes in enumerate([(), ("quote_not_found",), ("quote_not_found", "cot_leak")]):
            record = VerdictRecord(
                at=1_000 * (n + 1),
                agent_id="critic" if n < 2 else "editor",
                role="critic",
                accepted=not codes,
                codes=codes,
                detail="it does not say so" if codes else "",
                sources=({"kind": "receipt", "source": "rcpt_1", "holds": True},),
                step_key=f"check/{n}",
            )
            insert_verdict(connection, record)

    try:
        database.submit(store).result()
    finally:
        database.close()
    shown = told(call, "evidence")
    assert shown["codes"] == {"quote_not_found": 2, "cot_leak": 1}
    assert shown["totals"] == {"accepted": 1, "abstained": 0, "rejected": 2}
    assert [each["step_key"] for each in shown["verdicts"]] == ["check/2", "check/1", "check/0"]
    assert shown["verdicts"][0]["sources"][0]["source"] == "rcpt_1"
    only = told(call, "evidence", "--agent", "critic", "--code", "quote_not_found")
    assert [each["step_key"] for each in only["verdicts"]] == ["check/1"]
    _, out, _ = call("evidence", "--limit", "1")
    assert "quote_not_found, cot_leak" in out
    assert "2 rejected" in out and "2 times" in out
    code, _, err = call("evidence", "--code", "bad_mood")
    assert code != 0
    assert "bad_mood" in err and "cot_leak" in err


def test_a_watcher_reads_of_an_issue_once_and_of_a_verdict_at_its_step() -> None:
    left = Event(1, 0, IssueChanged(3, "The eyes differ", "open", "finding"), step_key="issue/0")
    checked = Event(2, 0, EvidenceChecked("critic", "critic", accepted=False))
    assert is_worth_a_line(left)
    assert not is_worth_a_line(checked)
    assert str(describe(left)).split() == [
        "·",
        "issue",
        "issue/0",
        "#3",
        "open",
        "The",
        "eyes",
        "differ",
    ]
