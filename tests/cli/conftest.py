"""What the tests of the command line share: a project with scripts, and a call in this process."""

import os
import shutil
from pathlib import Path

import pytest
from clitools import ASKING_REPLIES, GOOD_REPLIES, HANGING_REPLIES, Ended, Here

import callboard.packs.examples as examples
from callboard.cli.main import main
from callboard.studio.project import Project

SAMPLE = Path(examples.__file__).parent / "sample"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is a project, with scripts of replies in it; the current folder."""
    root = tmp_path / "story"
    monkeypatch.setenv("CALLBOARD_DATA_DIR", str(tmp_path / "data"))
    shutil.copytree(SAMPLE, root)
    Project.init(root)
    (root / "good.yaml").write_text(GOOD_REPLIES)
    (root / "hanging.yaml").write_text(HANGING_REPLIES)
    (root / "asking.yaml").write_text(ASKING_REPLIES)
    monkeypatch.chdir(root)
    monkeypatch.setenv("CALLBOARD_CACHE_DIR", str(tmp_path / "cache"))
    for tier in ("TRANSIENT", "EXTERNAL_RATE_LIMIT", "EXTERNAL_DEGRADING"):
        monkeypatch.setenv(f"CALLBOARD_ERRORS_RETRY_{tier}_MAX_ATTEMPTS", "1")
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    return root


@pytest.fixture
def here(project: Path, capsys: pytest.CaptureFixture[str]) -> Here:
    """Call the command line in this process, in the project: the same code, without the start."""
    assert project.is_dir()

    def run(*words: str) -> Ended:
        capsys.readouterr()
        code = main(list(words))
        told = capsys.readouterr()
        return Ended(code, told.out, told.err)

    return run


@pytest.fixture
def done_run(here: Here) -> str:
    """The id of a recipe that is done."""
    ended = here("run", "recipe", "--model", "script:good.yaml", "--json")
    assert ended.code == 0, ended.err
    return ended.lines[-1]["run"]["id"]
