"""The demonstration: from nothing to a drafted scene, with a script and with the embedded model."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from clitools import BELL, Here, call, staff_replies

from callboard.cli import exits
from callboard.models import find_weights, weights_dir

WEIGHTS = weights_dir(os.environ)
SCENE = Path("show") / "Story" / "Scenes" / "SCN-the-long-bell.md"


def scripted(project: Path, verdict: str) -> str:
    path = project / f"{verdict}.json"
    path.write_text(staff_replies(verdict))
    return f"script:{path}"


def test_the_demo_shows_what_was_made_and_says_what_is_next(here: Here, project: Path) -> None:
    model = scripted(project, "PASS")
    told = here("demo", "--dir", "show", "--model", model)
    assert told.code == 0, told.err
    assert f"Edited draft\n\n    {BELL}\n" in told.out
    assert "Verdict: PASS" in told.out
    assert "Loud, this long bell." in told.out
    assert "outline_analyzer: 7 scenes, beat 5 matched" in told.out
    assert "written   Story/Scenes/SCN-the-long-bell.md" in told.out
    assert "6 of 6 checks met" in told.out
    assert "with 5 model calls" in told.err
    assert "callboard runs show last" in told.err
    assert (project / SCENE).read_text().strip() == BELL


def test_a_second_demo_keeps_what_the_user_wrote(here: Here, project: Path) -> None:
    model = scripted(project, "PASS")
    own = project / SCENE
    assert here("demo", "--dir", "show", "--model", model).code == 0
    own.write_text("My own bell.")
    again = here("demo", "--dir", "show", "--model", model, "--json")
    assert again.lines[-1]["run"]["state"] == "done"
    assert own.read_text() == "My own bell."
    assert again.lines[-1]["run"]["result"]["committed"][0]["mode"] == "propose"
    assert len(here("runs", "list", "--project", "show").out.splitlines()) == 3


def test_a_scene_that_breaks_canon_is_shown_and_not_written(here: Here, project: Path) -> None:
    failed = here("demo", "--dir", "show", "--model", scripted(project, "FAIL"))
    assert failed.code == exits.FAILED
    assert BELL in failed.out
    assert "proposed  Story/Scenes/SCN-the-long-bell.md" in failed.out
    assert "4 of 6 checks met" in failed.out
    assert "Not done" in failed.err
    assert not (project / SCENE).exists()


def test_a_demo_that_ends_before_there_is_a_scene_says_so(here: Here, project: Path) -> None:
    (project / "curt.json").write_text('{"replies": [{"text": "No.", "times": "always"}]}')
    failed = here("demo", "--dir", "show", "--model", f"script:{project}/curt.json")
    assert failed.code != exits.OK
    assert "evidence" in failed.err
    assert "What to try next" not in failed.err


@pytest.mark.local_model
@pytest.mark.timeout(600)
def test_the_demo_succeeds_with_the_embedded_model(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert project
    assert find_weights(WEIGHTS), "`callboard models pull` first, or -m 'not local_model'"
    monkeypatch.setenv("CALLBOARD_CACHE_DIR", str(WEIGHTS.parent))
    monkeypatch.setenv("CALLBOARD_PIPELINE_AGENT_TIMEOUT_SECONDS", "300")
    ended = call("demo", "--dir", "show", cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert "Ines and Jun carried the mended wheel up the tower in the dark." in ended.out
    assert "Verdict: PASS" in ended.out
    assert "6 of 6 checks met" in ended.out
    assert "<data" not in ended.out
    with closing(sqlite3.connect(tmp_path / "show" / ".callboard" / "callboard.db")) as database:
        verdicts = database.execute("SELECT accepted, abstained FROM evidence_verdicts").fetchall()
        (spent,) = database.execute(
            "SELECT sum(input_tokens), sum(output_tokens), sum(outcome != 'ok') FROM calls"
        )
    assert verdicts == [(True, False)] * 5
    given, said, failed = spent
    assert given < 5_000
    assert said < 900
    assert failed == 0
