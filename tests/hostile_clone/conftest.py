"""A project somebody else made, a folder beside it that must stay as it is, and a door to both."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

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


@dataclass(frozen=True)
class Clone:
    """A cloned project and how a command in it ended."""

    root: Path
    outside: Path
    runner: "subprocess.Popen[str]"

    @property
    def kept(self) -> Path:
        return self.root / ".callboard"

    def call(self, *words: str) -> tuple[int, str]:
        """Run a command in a process with little memory and time; return its code and its words."""
        told = self.outside.parent / "told.txt"
        job = {"root": str(self.root), "told": str(told), "words": words}
        assert self.runner.stdin is not None
        assert self.runner.stdout is not None
        self.runner.stdin.write(json.dumps(job) + "\n")
        self.runner.stdin.flush()
        code = int(self.runner.stdout.readline())
        text = told.read_text("utf-8", "replace")
        assert code >= 0, f"{words} was killed by signal {-code}: {text}"
        assert "Traceback" not in text, text
        assert "mistake in Callboard" not in text, text
        return code, text

    def become_a_stranger(self) -> None:
        """Forget that the user made the folder, as if it had just been cloned."""
        (self.kept / "local" / "project-id").unlink()

    def assert_nothing_left_the_project(self) -> None:
        found = {str(path.relative_to(self.outside)) for path in self.outside.rglob("*")}
        assert found == {"file.txt", "folder"}, found
        assert (self.outside / "file.txt").read_text() == "outside"


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
