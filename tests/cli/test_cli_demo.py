"""The demonstration: from nothing to a scene, with a script and with the embedded model."""

import os
from pathlib import Path

import pytest
from clitools import Here, call

from callboard.cli import exits
from callboard.models import find_weights, weights_dir

WEIGHTS = weights_dir(os.environ)


def test_the_demo_sets_up_runs_and_says_what_is_next(here: Here, project: Path) -> None:
    told = here("demo", "--dir", "show", "--model", f"script:{project}/good.yaml")
    assert told.code == 0, told.err
    assert "The lighthouse keeper climbs" in told.out
    assert "callboard runs show last --project show" in told.err
    own = project / "show" / "Story" / "lighthouse.md"
    own.write_text("My own lighthouse.")
    again = here("demo", "--dir", "show", "--model", f"script:{project}/good.yaml", "--json")
    assert again.lines[-1]["run"]["state"] == "done"
    assert own.read_text() == "My own lighthouse."
    assert len(here("runs", "list", "--project", "show").out.splitlines()) == 3


def test_a_demo_that_fails_says_so(here: Here, project: Path) -> None:
    (project / "curt.yaml").write_text("replies:\n  - {text: No., times: always}\n")
    failed = here("demo", "--dir", "show", "--model", "script:curt.yaml")
    assert failed.code == exits.FAILED
    assert "the draft is long enough" in failed.err
    assert "What to try next" not in failed.err


@pytest.mark.local_model
@pytest.mark.skipif(find_weights(WEIGHTS) is None, reason="run `callboard models pull` first")
def test_the_demo_succeeds_with_the_embedded_model(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert project
    monkeypatch.setenv("CALLBOARD_CACHE_DIR", str(WEIGHTS.parent))
    ended = call("demo", "--dir", "show", "--json", cwd=tmp_path)
    assert ended.code == 0, ended.out
    run = ended.lines[-1]["run"]
    assert "lighthouse" in run["result"]["scene"].lower()
    assert run["result"]["source"] == "Story/lighthouse.md"
