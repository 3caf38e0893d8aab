"""The count of the house: worse is refused, better is kept, looking at nothing is no success."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "house.py"
TREE = {
    "cli/main.py": "import sample.studio\n",
    "api/app.py": "class Asked:\n    one: int\n    two: int\n    three: int\n    four: int\n",
    "ui/page.py": "def show() -> None: ...\n",
    "packs/kitchen/pack.py": "class Dish:\n    one: int\n    two: int\n    six: int\n",
}
WORSE = {
    "door modules importing a pack": ("cli/main.py", "def f():\n    from sample.packs import x\n"),
    "modules in cli": ("cli/more.py", ""),
    "folders in cli": ("cli/deep/more.py", ""),
    "class names with two meanings": ("ui/page.py", "if True:\n    class Asked: ...\n"),
    "near-identical class pairs": ("packs/kitchen/pack.py", TREE["api/app.py"].replace("A", "_")),
    "hand-written JSON schemas": ("ui/page.py", "x = [{'additionalProperties': False}]\n"),
    "modules above 300 lines": ("ui/page.py", "\n" * 301),
    "lines in ui": ("ui/page.py", "\n\n"),
}
ROOMS = {
    "api": {"modules": 1, "folders": 1, "lines": 5},
    "cli": {"modules": 1, "folders": 1, "lines": 1},
    "packs/kitchen": {"modules": 1, "folders": 1, "lines": 4},
    "ui": {"modules": 1, "folders": 1, "lines": 1},
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in TREE.items():
        path = tmp_path / "sample" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    shapes = [name for name in WORSE if name.partition(" in ")[2] not in ROOMS]
    counts = {**dict.fromkeys(shapes, 0), "rooms": ROOMS}
    (tmp_path / "house.json").write_text(json.dumps(counts), "utf-8")
    return tmp_path


def count(tree: Path, *asked: str) -> subprocess.CompletedProcess[str]:
    told = ["--source", str(tree / "sample"), "--baseline", str(tree / "house.json")]
    return subprocess.run(
        [sys.executable, str(TOOL), *told, *asked], capture_output=True, text=True, check=False
    )


def test_a_house_that_is_as_it_was_passes(tree: Path) -> None:
    done = count(tree)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in WORSE)


@pytest.mark.parametrize("name", WORSE)
def test_a_count_that_gets_worse_is_refused_and_named(tree: Path, name: str) -> None:
    path, text = WORSE[name]
    (tree / "sample" / path).parent.mkdir(parents=True, exist_ok=True)
    (tree / "sample" / path).write_text(text, "utf-8")
    before = (tree / "house.json").read_text("utf-8")
    done = count(tree, "--write")
    assert done.returncode == 1
    assert f"\n  {name}: " in done.stderr
    assert (tree / "house.json").read_text("utf-8") == before


def test_a_better_count_is_the_next_baseline(tree: Path) -> None:
    (tree / "sample" / "packs" / "kitchen" / "pack.py").write_text("", "utf-8")
    assert count(tree, "--write").returncode == 0
    kept = json.loads((tree / "house.json").read_text("utf-8"))["rooms"]["packs/kitchen"]
    assert kept == {"modules": 1, "folders": 1, "lines": 0}
    (tree / "sample" / "packs" / "kitchen" / "pack.py").write_text("\n", "utf-8")
    assert count(tree).returncode == 1


def test_the_places_of_a_count_are_listed(tree: Path) -> None:
    (tree / "sample" / "ui" / "page.py").write_text("class Asked: ...\n", "utf-8")
    done = count(tree, "--show", "class names with two meanings")
    assert done.stdout == "Asked: api/app.py, ui/page.py\n"
    assert "nothing is counted as 'wit'" in count(tree, "--show", "wit").stderr


def test_nothing_looked_at_is_no_success(tree: Path) -> None:
    (tree / "sample" / "ui" / "page.py").unlink()
    done = count(tree)
    assert done.returncode == 1
    assert "Nothing was looked at in ui" in done.stderr


def test_a_count_without_a_baseline_is_no_success(tree: Path) -> None:
    (tree / "house.json").write_text("{}", "utf-8")
    assert count(tree).returncode == 1


def test_a_new_pack_adds_lines_of_its_own_and_leaves_the_others_theirs(tree: Path) -> None:
    (tree / "sample" / "packs" / "garden").mkdir()
    (tree / "sample" / "packs" / "garden" / "pack.py").write_text("x = 1\n", "utf-8")
    done = count(tree)
    assert done.returncode == 1
    assert "modules in packs/garden: not in both" in done.stderr
    assert count(tree, "--write").returncode == 0
    kept = json.loads((tree / "house.json").read_text("utf-8"))["rooms"]
    one = {"modules": 1, "folders": 1, "lines": 100}
    assert kept == dict.fromkeys((*ROOMS, "packs/garden"), one)
