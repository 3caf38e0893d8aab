"""Runs from the command line: start, read, retry, fork, and what scripts can rely on."""

import json
from pathlib import Path

import pytest
from clitools import Here, call

from callboard.cli import exits

FAILING = """\
replies:
  - {agent: planner, text: A brief about the lighthouse.}
  - {agent: writer, fail: {status: %d, message: refused}}
"""


def test_from_an_empty_folder_to_a_result(tmp_path: Path, project: Path) -> None:
    fresh = tmp_path / "fresh"
    made = call("init", str(fresh), cwd=tmp_path)
    assert made.code == 0
    assert (fresh / ".callboard" / "config.yaml").is_file()
    assert call("init", str(fresh), cwd=tmp_path).out.startswith(f"{fresh} already is")

    ran = call("run", "recipe", "--model", "script:good.yaml", "--title", "First", cwd=project)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("scene:\n  The lighthouse keeper climbs")
    for told in ("search_text", "planner · script:good.yaml", "tokens", "is done", "Files: "):
        assert told in ran.err
    assert "\x1b" not in ran.err + ran.out

    listed = call("runs", "list", cwd=project / "Story")
    assert listed.code == 0
    (head, row) = listed.out.splitlines()
    assert head.split() == ["RUN", "STATE", "CHOREOGRAPHY", "BEGAN", "TITLE"]
    assert row.split()[1:3] == ["done", "examples/recipe"]
    assert row.endswith("First")
    folder = project / ".callboard" / "runs" / row.split()[0]
    assert json.loads((folder / "run.json").read_text())["state"] == "done"


def test_a_run_with_json_is_one_event_per_line_and_then_the_run(here: Here) -> None:
    ended = here("run", "recipe", "--arg", "subject=lamp", "--model", "script:good.yaml", "--json")
    *events, last = ended.lines
    assert (ended.code, ended.err) == (0, "")
    assert events[0]["type"] == "run.started"
    assert events[-1]["data"] == {"state": "done"}
    seqs = [event["seq"] for event in events]
    assert seqs == sorted(seqs)
    assert [e["step_key"] for e in events if e["type"] == "step.done"] == [
        "find",
        "read",
        "brief",
        "draft",
        "note",
        "done",
    ]
    assert last["run"]["state"] == "done"
    assert last["run"]["args"] == {"subject": "lamp"}


def test_arguments_come_from_pairs_and_from_json(
    here: Here, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "args.json").write_text('{"subject": "village", "least_words": 5}')
    ended = here(
        "run", "recipe", "--args-json", "args.json", "--arg", "least_words=7",
        "--model", "script:good.yaml", "--json",
    )  # fmt: skip
    assert ended.lines[-1]["run"]["args"] == {"subject": "village", "least_words": 7}
    piped = call(
        "run", "recipe", "--args-json", "-", "--model", "script:good.yaml", "--json",
        cwd=project, stdin='{"subject": "key"}',
    )  # fmt: skip
    assert piped.lines[-1]["run"]["args"] == {"subject": "key"}
    (project / "args.json").write_text("[1]")
    assert here("run", "recipe", "--args-json", "args.json").code == exits.USAGE
    (project / "args.json").write_text("{")
    assert "line 1" in here("run", "recipe", "--args-json", "args.json").err
    assert here("run", "recipe", "--args-json", "nowhere.json").code == exits.NOT_FOUND


def test_what_cannot_start_leaves_no_run(here: Here) -> None:
    unknown = here("run", "nothing")
    assert unknown.code == exits.NOT_FOUND
    assert "callboard packs list" in unknown.err
    assert "Did you mean examples/recipe" in here("run", "examples/recipes").err
    wrong = here("run", "recipe", "--arg", "colour=red")
    assert wrong.code == exits.USAGE
    assert "subject (str, default 'lighthouse')" in wrong.err
    assert here("run", "recipe", "--session", "nobody").code == exits.NOT_FOUND
    assert here("runs", "list", "--json").json == {"runs": []}


@pytest.mark.parametrize(("status", "code"), [(500, exits.FAILED), (401, exits.NEEDS_YOU)])
def test_a_failed_run_is_told_by_tier_and_can_be_retried(
    here: Here, project: Path, status: int, code: int
) -> None:
    (project / "bad.yaml").write_text(FAILING % status)
    failed = here("run", "recipe", "--model", "script:bad.yaml")
    assert failed.code == code
    assert failed.out == ""
    headline = "The provider is in trouble" if status == 500 else "Callboard needs you"
    assert headline in failed.err
    assert "Way out: " in failed.err
    assert "callboard runs retry run_" in failed.err
    shown = here("runs", "show", "last")
    assert headline in shown.out

    retried = here("runs", "retry", "last", "--model", "script:good.yaml")
    assert retried.code == 0, retried.err
    assert "keeps 3 finished steps of run_" in retried.err
    assert "brief" not in retried.err
    again = here("runs", "retry", "last")
    assert again.code == exits.CONFLICT
    assert "only a failed or cancelled run" in again.err


def test_a_failed_run_with_json_ends_with_the_run_and_the_error(here: Here, project: Path) -> None:
    (project / "bad.yaml").write_text(FAILING % 500)
    last = here("run", "recipe", "--model", "script:bad.yaml", "--json").lines[-1]
    assert last["run"]["state"] == "failed"
    assert last["error"]["code"] == "provider_error"
    assert last["error"]["details"]["tier"] == "external_degrading"


def test_a_fork_keeps_what_came_before_and_takes_the_users_words(
    here: Here, project: Path, done_run: str
) -> None:
    own = "My own lighthouse stands on a hill. " * 6
    forked = here(
        "runs", "fork", done_run, "--set", f"draft={own}", "--model", "script:good.yaml", "--json"
    )
    assert forked.code == 0, forked.out
    run = forked.lines[-1]["run"]
    assert run["result"]["scene"] == own
    assert (run["parent_id"], run["origin"]) == (done_run, "fork")
    assert "My own lighthouse" in here("runs", "slot", "last", "draft").out
    (project / "own.md").write_text(own)
    by_file = here(
        "runs", "fork", done_run, "--set-file", "draft=own.md", "--model", "script:good.yaml"
    )
    assert by_file.code == 0
    earlier = here("runs", "fork", done_run, "--from", "note", "--model", "script:good.yaml")
    assert "keeps 4 finished steps" in earlier.err
    assert here("runs", "fork", done_run).code == exits.USAGE
    assert here("runs", "fork", done_run, "--from", "nowhere").code == exits.NOT_FOUND
    lineage = here("runs", "show", done_run, "--json").json["run"]
    assert len(lineage["children"]) == 3
    assert here("runs", "show", "last").out.count(f"fork of {done_run}") == 1


def test_a_run_is_named_by_a_few_characters_or_last(here: Here, done_run: str) -> None:
    assert here("runs", "show", "last", "--json").json["run"]["id"] == done_run
    assert here("runs", "show", done_run[-6:], "--json").json["run"]["id"] == done_run
    assert here("runs", "show", done_run[:28], "--json").json["run"]["id"] == done_run
    second = here("run", "recipe", "--model", "script:good.yaml", "--json").lines[-1]["run"]["id"]
    ambiguous = here("runs", "show", "run_")
    assert ambiguous.code == exits.USAGE
    assert done_run in ambiguous.err
    assert second in ambiguous.err
    missing = here("runs", "show", "zzz", "--json")
    assert missing.code == exits.NOT_FOUND
    assert missing.json["error"]["details"]["context"] == {"run_id": "zzz"}


def test_show_tells_everything_about_a_run(here: Here, done_run: str) -> None:
    shown = here("runs", "show", "last").out
    for told in (
        done_run,
        "examples/recipe",
        "6 steps:",
        "writer · script:good.yaml",
        "read_file",
        "Slots: brief, done, draft, find, note, read",
        '"scene"',
        " tokens",
    ):
        assert told in shown
    assert "prm_" not in shown
    assert here("runs", "show", "last", "--prompts").out.count("prm_") == 3
    run = here("runs", "show", "last", "--json").json["run"]
    assert run["tokens"]["input"] == sum(
        step["detail"].get("input_tokens", 0) for step in run["steps"]
    )
    assert run["tokens"]["input"] > 0


def test_steps_and_slots_are_shown_whole(here: Here, done_run: str) -> None:
    assert done_run
    steps = here("runs", "steps", "last")
    assert [line.split()[1] for line in steps.out.splitlines()[1:]] == [
        "find",
        "read",
        "brief",
        "draft",
        "note",
        "done",
    ]
    one = here("runs", "steps", "last", "draft", "--json").json["step"]
    assert one["output"]["text"].startswith("The lighthouse keeper")
    assert "receipt  rcpt_" in here("runs", "steps", "last", "find").out
    assert here("runs", "steps", "last", "nothing").code == exits.NOT_FOUND

    assert here("runs", "slot", "last", "draft").out == one["output"]["text"] + "\n"
    found = json.loads(here("runs", "slot", "last", "find").out)
    assert found["quotes"][0]["path"] == "Story/lighthouse.md"
    slot = here("runs", "slot", "last", "read", "--json").json["slot"]
    assert slot["type"] == "pointer"
    assert "Carrow Point" in slot["value"]["text"]
    assert len(here("runs", "slot", "last").out.splitlines()) == 7
    missing = here("runs", "slot", "last", "nothing")
    assert missing.code == exits.NOT_FOUND
    assert "brief, draft" in missing.err


def test_events_are_one_line_each_and_following_ends_with_the_run(
    here: Here, done_run: str
) -> None:
    lines = here("runs", "events", done_run, "--json").lines
    assert {line["run_id"] for line in lines} == {done_run}
    followed = here("runs", "events", done_run, "--follow")
    assert len(followed.out.splitlines()) == len(lines)
    assert "run.changed" in followed.out.splitlines()[-1]


def test_lists_can_be_narrowed(here: Here, done_run: str) -> None:
    assert here("runs", "list", "--state", "failed", "--json").json == {"runs": []}
    assert here("sessions", "create", "other").code == 0
    assert here("runs", "list", "--session", "other").out == ""
    listed = here("runs", "list", "--session", "main", "--state", "done", "--json").json["runs"]
    assert [run["id"] for run in listed] == [done_run]


def test_a_new_project_is_empty_and_says_so(here: Here, project: Path) -> None:
    for words in (
        ("runs", "list"),
        ("sessions", "list"),
        ("receipts", "list"),
        ("answer",),
    ):
        ended = here(*words)
        assert (ended.code, ended.out) == (0, "")
        assert ended.err
        assert len(ended.err.splitlines()) == 1
    assert here("runs", "show", "last").code == exits.NOT_FOUND
    assert not (project / ".callboard" / "callboard.db").exists()


def test_what_a_model_says_cannot_steer_the_terminal(here: Here, project: Path) -> None:
    (project / "evil.yaml").write_text(
        'replies:\n  - {text: "lighthouse \\e]0;owned\\a\\e[2J '
        + "word " * 30
        + '", times: always}\n'
    )
    ended = here("run", "recipe", "--model", "script:evil.yaml")
    assert ended.code == 0
    for text in (ended.out, ended.err, here("runs", "show", "last").err):
        assert "\x1b" not in text
    raw = here("runs", "slot", "last", "draft").out
    assert "\x1b]0;owned" in raw, "not on a terminal: the value as it is"
