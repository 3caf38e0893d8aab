"""`callboard gc`: what old work left behind goes, and nothing that anybody needs."""

import sqlite3
from pathlib import Path

import pytest
from clitools import Here

from callboard.cli import exits

NOW = ("--older-than", "0h")


def count(project: Path, table: str, where: str = "1") -> int:
    with sqlite3.connect(project / ".callboard" / "callboard.db") as database:
        sql = f"SELECT COUNT(*) FROM {table} WHERE {where}"  # noqa: S608 - words of this file
        return int(database.execute(sql).fetchone()[0])


def test_a_look_changes_nothing_and_tells_what_then_goes(
    here: Here, project: Path, done_run: str
) -> None:
    receipts = here("receipts", "list", "--json").json["receipts"]
    shown = here("runs", "show", done_run, "--json").json
    looked = here("gc", *NOW, "--dry-run", "--json").json
    assert looked["runs"] == 1
    assert looked["prompts"] == count(project, "prompts") == 3
    assert looked["events"] > 0

    gone = here("gc", *NOW, "--json").json

    for name in ("runs", "events", "prompts", "steps", "blobs"):
        assert gone[name] == looked[name], name
    assert gone["after_bytes"] < gone["before_bytes"]
    assert count(project, "prompts") == 0
    assert count(project, "events", "run_id IS NOT NULL AND type NOT LIKE 'run.%'") == 0
    kept = here("receipts", "list", "--json").json["receipts"]
    assert kept[: len(receipts)] == receipts
    assert kept[-1]["tool"] == "callboard.clear_old_work"
    assert here("receipts", "verify", "--json").json["is_sound"]
    assert "every row is as it was written" in here("doctor").out
    assert here("runs", "show", done_run, "--json").json["run"] == shown["run"]
    again = here("gc", *NOW)
    assert (again.code, again.out) == (0, "")
    assert "Nothing of that age" in again.err


def test_what_is_left_goes_on_working(here: Here, project: Path, done_run: str) -> None:
    assert here("gc", *NOW).code == 0
    forked = here(
        "runs", "fork", done_run, "--from", "draft", "--model", "script:good.yaml", "--json"
    )
    assert forked.code == 0, forked.err
    assert here("run", "recipe", "--model", "script:good.yaml").code == 0
    # Who looks at an ended run is told of its end, not left to wait for it.
    watched = here("runs", "watch", done_run)
    assert watched.code == 0
    assert here("receipts", "verify").code == 0
    assert project.is_dir()


def test_steps_go_only_from_sessions_that_nobody_uses(
    here: Here, project: Path, done_run: str
) -> None:
    steps = count(project, "steps")
    assert here("gc", *NOW, "--json").json["steps"] == 0
    assert count(project, "steps") == steps
    assert here("gc", *NOW, "--steps", "--json").json["steps"] == steps
    assert count(project, "steps") == 0
    refused = here("runs", "fork", done_run, "--from", "draft")
    assert refused.code == exits.NOT_FOUND
    assert (project / ".callboard" / "runs" / done_run / "steps.jsonl").read_text() == ""
    assert "run folders all agree" in here("doctor").out
    assert here("receipts", "verify").code == 0


def test_an_unfinished_run_keeps_all_it_has(here: Here, project: Path) -> None:
    words = ("--arg", "message=Where is the key?", "--model", "script:asking.yaml")
    waiting = here("run", "examples/turn", *words)
    assert waiting.code == exits.WAITING, waiting.err
    before = (count(project, "events"), count(project, "prompts"), count(project, "steps"))
    here("gc", *NOW, "--steps")
    assert (count(project, "prompts"), count(project, "steps")) == before[1:]
    assert count(project, "events") >= before[0]


def test_only_as_much_goes_as_is_asked_for_oldest_first(
    here: Here, project: Path, done_run: str
) -> None:
    younger = here("run", "recipe", "--model", "script:good.yaml", "--json").lines[-1]["run"]["id"]
    size = here("gc", *NOW, "--dry-run", "--json").json["before_bytes"]
    enough = here("gc", *NOW, "--dry-run", "--down-to", str(size), "--json").json
    assert enough["runs"] == 0
    assert here("gc", *NOW, "--down-to", str(size - 100), "--json").json["runs"] == 1
    assert count(project, "prompts", f"run_id = '{done_run}'") == 0
    assert count(project, "prompts", f"run_id = '{younger}'") == 3
    wrong = here("gc", "--down-to", "much")
    assert wrong.code == exits.USAGE
    assert "'much'" in wrong.err


def test_nothing_goes_from_a_database_that_was_altered(
    here: Here, project: Path, done_run: str
) -> None:
    with sqlite3.connect(project / ".callboard" / "callboard.db") as database:
        database.execute("UPDATE runs SET title = 'forged'")
    prompts = count(project, "prompts")
    refused = here("gc", *NOW)
    assert refused.code != 0
    assert done_run in refused.err
    assert "callboard doctor" in refused.err
    assert count(project, "prompts") == prompts > 0


@pytest.mark.parametrize("age", ["90d", "12w"])
def test_young_work_stays(here: Here, project: Path, done_run: str, age: str) -> None:
    assert "Nothing of that age" in here("gc", "--older-than", age).err
    assert count(project, "prompts", f"run_id = '{done_run}'") == 3
