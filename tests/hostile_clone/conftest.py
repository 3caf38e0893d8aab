"""A project somebody else made, a folder beside it that must stay as it is, and a door to both."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cloned_project import Clone

import callboard.packs.examples as examples
from callboard.studio.project import Project

SAMPLE = Path(examples.__file__).parent / "sample"
RUNNER = Path(__file__).with_name("clone_runner.py")
REPLIES = """\
replies:
  - text: >-
      The lighthouse keeper climbs the hundred and twelve steps every evening and looks at the sea,
      while the lamp of the lighthouse turns above the village that cannot sleep.
    times: always
"""


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Where the user's own folders lie, as variables."""
    folder = tmp_path_factory.mktemp("home")
    return {
        "HOME": str(folder),
        "CALLBOARD_CONFIG_DIR": str(folder / "config"),
        "CALLBOARD_DATA_DIR": str(folder / "data"),
        "CALLBOARD_CACHE_DIR": str(folder / "cache"),
    }


@pytest.fixture(scope="session")
def runner(home: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    environment = {**kept, **home}
    process = subprocess.Popen(
        [sys.executable, str(RUNNER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    with process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def clone(
    tmp_path: Path,
    runner: "subprocess.Popen[str]",
    home: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> Clone:
    """A project the user trusts: what lies in its `.callboard/` counts."""
    for name, value in home.items():
        monkeypatch.setenv(name, value)
    root, outside = tmp_path / "clone", tmp_path / "outside"
    shutil.copytree(SAMPLE, root)
    Project.init(root)
    (root / "good.yaml").write_text(REPLIES)
    (outside / "folder").mkdir(parents=True)
    (outside / "file.txt").write_text("outside")
    return Clone(root, outside, runner)
