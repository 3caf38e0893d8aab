"""`init` killed at any moment and called again ends in a whole project, and leaves no litter."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from sizes import size
from warm_process import call_warm

pytestmark = pytest.mark.chaos

KILL_POINTS = Path(__file__).with_name("kill_points.py")
KILLED = -9
MOST_POINTS = 2_000
# Every so many points; the chaos suite takes every one.
STRIDE = size(11, 1)


@dataclass
class Killer:
    """Calls commands that may be killed, with a user's folders of their own."""

    base: Path
    ended: "subprocess.CompletedProcess[str] | None" = None

    def call(self, folder: Path, *words: str, point: int = 0, with_statements: bool = False) -> int:
        """Run a command, killed at a point if one is named; return how it ended."""
        mine = {"HOME": str(self.base), "CALLBOARD_DATA_DIR": str(self.base / "d")}
        first = (str(KILL_POINTS), "kill_at", point, with_statements) if point else ()
        self.ended = call_warm(*words, cwd=folder, env={**os.environ, **mine}, first=first)
        return self.ended.returncode

    def told(self) -> str:
        return "" if self.ended is None else self.ended.stdout + self.ended.stderr


@pytest.fixture
def killer(tmp_path: Path) -> Killer:
    return Killer(tmp_path)


def content(root: Path) -> dict[str, str]:
    """Return every file of a project; of its id, only that there is one."""
    found: dict[str, str] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_file():
            found[name] = "an id" if path.name == "project-id" else path.read_text("utf-8")
        elif "pending" not in name:
            found[name] = "a folder"
    return found


@pytest.mark.parametrize("words", [["--for", "alfred"], ["--for", "control_room", "--sample"]])
def test_init_killed_anywhere_is_mended_by_init(killer: Killer, words: list[str]) -> None:
    whole = killer.base / "whole"
    whole.mkdir()
    (whole / "mine.md").write_text("mine")
    assert killer.call(whole, "init", *words) == 0, killer.told()
    expected = content(whole)
    assert any(name.endswith("config.yaml") for name in expected)
    killed = 0
    for point in range(1, MOST_POINTS, STRIDE):
        root = killer.base / f"killed-{point}"
        root.mkdir()
        (root / "mine.md").write_text("mine")
        code = killer.call(root, "init", *words, point=point)
        if code != KILLED:
            assert code == 0, killer.told()
            break
        killed += 1
        assert killer.call(root, "init", *words) == 0, (point, killer.told())
        assert content(root) == expected, point
        shutil.rmtree(root)
    else:
        raise AssertionError("it never ended by itself")
    assert killed > 2, "nothing was killed"


def test_a_file_of_the_users_is_never_replaced_by_a_sample(killer: Killer) -> None:
    root = killer.base / "book"
    root.mkdir()
    assert killer.call(root, "init", "--for", "control_room", "--sample") == 0
    samples = [path for path in root.rglob("*.md") if ".callboard" not in path.parts]
    assert samples
    for path in samples:
        path.write_text("")
    assert killer.call(root, "init", "--for", "control_room", "--sample") == 0
    assert all(path.read_text() == "" for path in samples)


def test_a_sample_is_not_copied_through_a_link(killer: Killer) -> None:
    whole, root, outside = (killer.base / name for name in ("whole", "book", "outside"))
    for folder in (whole, root, outside):
        folder.mkdir()
    assert killer.call(whole, "init", "--for", "control_room", "--sample") == 0
    for folder in whole.iterdir():
        if folder.is_dir() and folder.name != ".callboard":
            (root / folder.name).symlink_to(outside)
    assert killer.call(root, "init", "--for", "control_room", "--sample") != 0
    assert "link" in killer.told()
    assert list(outside.iterdir()) == []
