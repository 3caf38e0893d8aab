"""A plan whose process was ended is taken up; a recipe that was interrupted can be started anew."""

import json
import signal
import subprocess
from pathlib import Path

import pytest
from clitools import SCRIPT, Ended, Here, staff_replies

from callboard.cli import exits

TASKS = {
    "tasks": [
        {"id": 1, "description": "Consistency check of scenes 1 to 4", "deps": []},
        {"id": 2, "description": "Audit foreshadowing of the bell", "deps": [1]},
    ]
}
RECIPE = ("run", "analytical_consistency", "--arg", "description=Check scenes 1 to 4")


def replies(*, hangs: bool = False) -> str:
    lines = json.loads(staff_replies())["replies"]
    if hangs:
        lines = [{"prompt_type": "check_continuity", "hang": True}, *lines]
    lines.append({"prompt_type": "decompose", "json": TASKS, "times": "always"})
    lines.append({"text": f"Nothing. {'-' * 20}\n\nEvidence: scope: all scenes", "times": "always"})
    return json.dumps({"replies": lines})


@pytest.fixture
def novel(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "novel"
    assert here("init", str(root), "--for", "control_room", "--sample").code == exits.OK
    (root / "good.json").write_text(replies())
    (root / "hanging.json").write_text(replies(hangs=True))
    monkeypatch.chdir(root)
    monkeypatch.setenv("CALLBOARD_MODELS_DEFAULT", f"script:{root}/good.json")
    return root


def interrupted(*words: str, cwd: Path, when: str) -> Ended:
    """Start a command on a model that never answers, and press Ctrl-C once it says something."""
    command = [str(SCRIPT), *words, "--model", "script:hanging.json"]
    with subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            seen: list[str] = []
            for line in process.stderr:
                seen.append(line)
                if when in line:
                    break
            else:
                raise AssertionError(f"never said {when!r}: {seen}")
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    return Ended(process.returncode, out, "".join(seen) + err)


def test_a_plan_that_was_interrupted_is_resumed(here: Here, novel: Path) -> None:
    made = here("plan", "new", "check the book", "--json")
    assert made.code == exits.OK, made.err
    ended = interrupted("plan", "start", "last", cwd=novel, when="continuity")
    assert ended.code == exits.INTERRUPTED, ended.err
    assert "callboard plan resume" in ended.err
    before = here("plan", "show", "last", "--json").json["plan"]
    assert before["status"] == "running"
    run_id = before["tasks"][0]["run_id"]

    resumed = here("plan", "resume", "last", "--json")
    plan = resumed.lines[-1]["plan"]
    assert plan["tasks"][0]["status"] == "done", plan
    # The same run went on: what it had finished was not done again.
    assert plan["tasks"][0]["run_id"] == run_id


def test_a_recipe_that_was_interrupted_blocks_no_other_run(here: Here, novel: Path) -> None:
    ended = interrupted(*RECIPE, cwd=novel, when="continuity")
    assert ended.code == exits.INTERRUPTED, ended.err
    again = here(*RECIPE)
    assert again.code == exits.OK, again.err
    assert "callboard runs resume --all" in again.err


def test_a_recipe_that_is_paused_is_named_with_the_way_on(here: Here, novel: Path) -> None:
    assert interrupted(*RECIPE, cwd=novel, when="continuity").code == exits.INTERRUPTED
    assert here("runs", "pause", "last").code == exits.OK
    again = here(*RECIPE)
    assert again.code == exits.CONFLICT
    assert "is paused as run_" in again.err and "callboard runs resume run_" in again.err


def test_a_plan_whose_run_is_paused_says_so_and_ends(here: Here, novel: Path) -> None:
    assert here("plan", "new", "check the book").code == exits.OK
    assert interrupted("plan", "start", "last", cwd=novel, when="continuity").code
    assert here("runs", "pause", "last").code == exits.OK
    ended = here("plan", "resume", "last")
    assert ended.code == exits.WAITING, ended.err
    assert "callboard runs resume run_" in ended.err
