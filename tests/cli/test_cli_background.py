"""Runs in the background: handed over, watched, asked, stopped, and what happens when they die."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from clitools import Background, Here, call

from callboard.cli import exits
from callboard.store.journal.processes import list_processes
from callboard.store.sqlite.database import SqliteDatabase
from callboard.studio.project import Project

GOOD = ("run", "recipe", "--model", "script:good.yaml", "--detach")
HANGING = ("run", "recipe", "--model", "script:hanging.yaml", "--detach")


@pytest.fixture
def hanging(project: Path, here: Here) -> Iterator[str]:
    """The id of a run in the background whose writer never answers."""
    started = call(*HANGING, cwd=project)
    assert started.code == 0, started.err
    run_id = started.out.strip()
    yield run_id
    here("runs", "cancel", run_id)
    wait_until_let_go(here)


def wait_until_let_go(here: Here) -> None:
    while any(run["is_executed"] for run in here("runs", "list", "--json").json["runs"]):
        pass


def test_a_detached_run_goes_on_and_can_be_watched_to_its_end(project: Path, here: Here) -> None:
    started = call(*GOOD, "--title", "By night", cwd=project)
    assert started.code == 0, started.err
    run_id = started.out.strip()
    assert f"callboard runs watch {run_id}" in started.err

    watched = here("runs", "watch", run_id, "--json")
    assert watched.code == 0
    assert watched.lines[0]["type"] == "run.started"
    assert watched.lines[-1]["run"]["state"] == "done"
    assert watched.lines[-1]["run"]["title"] == "By night"
    wait_until_let_go(here)
    log = project / ".callboard" / "local" / "logs" / f"{run_id}.log"
    assert "The lighthouse keeper" in log.read_text("utf-8")

    again = here("runs", "watch", "last")
    assert again.code == 0
    assert "The lighthouse keeper" in again.out


def test_a_detached_run_is_told_to_programs_as_json(project: Path, here: Here) -> None:
    started = call(*GOOD, "--json", cwd=project)
    assert (started.code, started.err) == (0, "")
    assert started.json["run"]["choreography"] == "examples/recipe"
    assert Path(started.json["log"]).is_file()
    assert here("runs", "watch", started.json["run"]["id"]).code == 0
    wait_until_let_go(here)


def test_a_detached_run_has_a_session_of_its_own(project: Path, hanging: str, here: Here) -> None:
    listed = here("runs", "list", "--json").json["runs"][0]
    assert (listed["id"], listed["is_executed"]) == (hanging, True)
    database = SqliteDatabase.open(Project(project).database)
    (process,) = database.read(list_processes)
    database.close()
    # The hang-up of a terminal goes to the processes of its session.
    assert os.getsid(process.pid) == process.pid != os.getsid(0)


def test_a_detached_run_is_stopped_like_any_other(hanging: str, here: Here) -> None:
    assert here("runs", "cancel", hanging).code == 0
    watched = here("runs", "watch", hanging, "--json")
    assert watched.code == exits.FAILED
    assert watched.lines[-1]["run"]["state"] == "cancelled"


def test_ctrl_c_ends_the_watching_and_not_the_run(project: Path, hanging: str, here: Here) -> None:
    with Background("runs", "watch", hanging, cwd=project) as watching:
        watching.wait_for("step.started", "draft")
        watching.process.send_signal(signal.SIGINT)
        ended = watching.end()
    assert ended.code == exits.INTERRUPTED
    assert ended.lines[-1]["interrupted"] is True
    assert here("runs", "list", "--json").json["runs"][0]["is_executed"] is True


def test_watching_ends_when_nobody_executes_the_run(project: Path, here: Here) -> None:
    with Background(*HANGING[:-1], cwd=project) as running:
        running.wait_for("step.started", "draft")
        running.process.send_signal(signal.SIGKILL)
        running.end()
    watched = here("runs", "watch", "last")
    assert watched.code == exits.INTERRUPTED
    assert "Nobody executes run" in watched.err
    assert "callboard runs resume run_" in watched.err


def test_a_question_ends_the_watching_and_is_answered_elsewhere(project: Path, here: Here) -> None:
    words = ("run", "examples/turn", "--arg", "message=Where is the key?")
    words = (*words, "--model", "script:asking.yaml")
    started = call(*words, "--detach", "--json", cwd=project)
    assert started.code == 0, started.out
    watched = here("runs", "watch", "last")
    assert watched.code == exits.WAITING
    assert "Answer with: callboard answer" in watched.err
    wait_until_let_go(here)


def test_a_mistake_in_the_call_is_told_before_anything_starts(here: Here) -> None:
    refused = here("run", "nothing", "--detach")
    assert refused.code == exits.NOT_FOUND
    assert here("runs", "list", "--json").json["runs"] == []


def test_a_process_that_ends_at_once_is_told(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    refused = here(*GOOD)
    assert refused.code == exits.FAILED
    assert "ended at once" in refused.err
    assert here("runs", "resume", "last", "--model", "script:good.yaml").code == 0
