"""Two processes and one run: pause, resume, cancel, Ctrl-C, and taking up what was left."""

import signal
from pathlib import Path

import pytest
from clitools import Background, Here, call

from callboard.cli import exits

HANGING = ("run", "recipe", "--model", "script:hanging.yaml")


def test_a_run_is_cancelled_from_another_process(project: Path, here: Here) -> None:
    with Background(*HANGING, cwd=project) as running:
        running.wait_for("step.started", "draft")
        listed = here("runs", "list", "--json").json["runs"]
        assert (listed[0]["state"], listed[0]["is_executed"]) == ("running", True)
        taken = here("runs", "resume", "last")
        assert taken.code == exits.CONFLICT
        assert "another process" in taken.err
        cancelled = here("runs", "cancel", "last", "--reason", "enough", "--json")
        assert cancelled.code == 0
        assert cancelled.json["signal"]["acknowledged_state"] == "cancelled"
        ended = running.end()
    assert ended.code == exits.FAILED
    assert ended.lines[-1]["run"]["state"] == "cancelled"
    again = here("runs", "cancel", "last")
    assert again.code == exits.CONFLICT
    assert "is cancelled" in again.err


def test_ctrl_c_lets_go_of_a_run_and_resume_takes_it_up(project: Path, here: Here) -> None:
    with Background(*HANGING, cwd=project) as running:
        running.wait_for("step.started", "draft")
        running.process.send_signal(signal.SIGINT)
        ended = running.end()
    assert ended.code == exits.INTERRUPTED
    assert ended.lines[-1]["interrupted"] is True
    run_id = ended.lines[-1]["run"]["id"]

    assert "interrupted" in here("runs", "list").out
    hinted = here("run", "recipe", "--model", "script:good.yaml")
    assert hinted.code == 0
    assert "`callboard runs resume --all`" in hinted.err
    assert here("runs", "show", run_id, "--json").json["run"]["state"] == "running"

    resumed = here("runs", "resume", run_id, "--model", "script:good.yaml", "--json")
    assert resumed.code == 0, resumed.out
    steps = [e["step_key"] for e in resumed.lines[:-1] if e["type"] == "step.done"]
    assert steps == ["draft", "note", "done"]
    assert here("runs", "resume", run_id).code == exits.CONFLICT


def test_ctrl_c_tells_people_how_to_go_on(project: Path) -> None:
    with Background(*HANGING, cwd=project) as running:
        running.wait_for("step.started", "draft")
        running.process.send_signal(signal.SIGTERM)
        assert running.end().code == exits.INTERRUPTED
    with Background("runs", "resume", "last", "--model", "script:hanging.yaml", cwd=project) as one:
        one.wait_for("step.started", "draft")
        one.process.send_signal(signal.SIGKILL)
        one.end()
    resumed = call("runs", "resume", "--all", "--model", "script:good.yaml", cwd=project)
    assert resumed.code == 0, resumed.err
    assert "The lighthouse keeper" in resumed.out


def test_a_paused_run_waits_until_it_is_resumed(project: Path, here: Here) -> None:
    with Background(*HANGING, cwd=project) as running:
        running.wait_for("step.started", "draft")
        running.process.send_signal(signal.SIGINT)
        running.end()
    paused = here("runs", "pause", "last")
    assert paused.code == 0
    assert "pause took effect, the run is paused." in paused.out
    nothing = here("runs", "resume", "--all")
    assert nothing.code == 0
    assert "No run is interrupted" in nothing.err
    resumed = here("runs", "resume", "last", "--model", "script:good.yaml")
    assert resumed.code == 0, resumed.err
    assert here("runs", "show", "last", "--json").json["run"]["state"] == "done"


def test_a_run_whose_pack_is_not_here_is_left_alone(project: Path, here: Here) -> None:
    pack = project / "pack"
    pack.mkdir()
    (pack / "pack.yaml").write_text("name: own\nchoreographies: {ask: ask.py:ask}\n")
    (pack / "ask.py").write_text(
        "from callboard.choreography import Stage, choreography\n\n\n"
        "@choreography\n"
        "async def ask(stage: Stage) -> str:\n"
        '    """Ask."""\n'
        "    return await stage.ask_human('colour', 'Which?', choices=('red', 'blue'))\n"
    )
    waiting = here("run", "own/ask", "--pack", str(pack))
    assert waiting.code == exits.WAITING
    question = here("answer", "--json").json["questions"][0]["id"]
    for words in (("runs", "resume", "last"), ("answer", question, "red")):
        refused = here(*words)
        assert refused.code == exits.NOT_FOUND
        assert "--pack" in refused.err
    assert here("runs", "show", "last", "--json").json["run"]["state"] == "waiting"
    done = here("answer", question, "red", "--pack", str(pack))
    assert (done.code, done.out) == (0, "red\n")


def test_a_suspended_session_brings_its_runs_back(
    project: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Background(*HANGING, cwd=project) as running:
        running.wait_for("step.started", "draft")
        running.process.send_signal(signal.SIGINT)
        running.end()
    assert here("sessions", "suspend", "main").code == 0
    assert here("runs", "list", "--json").json["runs"][0]["state"] == "paused"
    refused = here("run", "recipe", "--session", "main")
    assert refused.code == exits.CONFLICT
    monkeypatch.setenv("CALLBOARD_MODELS_DEFAULT", "script:good.yaml")
    back = here("sessions", "resume", "main")
    assert back.code == 0, back.err
    assert "Session main" in back.out
    assert here("runs", "list", "--json").json["runs"][0]["state"] == "done"
    assert here("sessions", "complete", "main", "--summary", "All written.").code == 0
    shown = here("sessions", "show", "main", "--json").json
    assert shown["session"]["summary"] == "All written."
    assert len(shown["runs"]) == 1
    assert here("sessions", "resume", "main").code == exits.CONFLICT
