"""Traceability: which requirements are proven, and no mark without a requirement."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "trace.py"

SPEC = {
    "README.md": "Ids look like **CR-1**.\n",
    "control-room.md": (
        "# Control Room\n"
        "- **CR-01** First, see CR-99.\n"
        "- **CR-02** [derived] Second.\n"
        "Common rules: **CR-03** third. **CR-04** fourth, unlike CR-98.\n"
        "1. CR-97 is only mentioned here.\n"
        "Parts (all **WF-G60**, one letter each):\n"
        "- **WF-G60a A1** one\n"
        "- **WF-G60b A2** two\n"
        "- **WF-G07** seven\n"
    ),
    "sylk/03-errors.md": (
        "- ERR-01 One.\n- ERR-02 Two.\n\n| **ERR-03** | `x` |\n|---|---|\n**ERR-04** Four.\n"
    ),
}
TESTS = """
import pytest

@pytest.mark.req("CR-01", "WF-G60a")
def test_passes(): pass

@pytest.mark.req("CR-02")
def test_fails(): assert False

@pytest.mark.req("CR-02", "ERR-01")
def test_passes_too(): pass

@pytest.mark.req("CR-03")
@pytest.mark.skip(reason="later")
def test_skipped(): pass

@pytest.mark.req("CR-04")
@pytest.mark.xfail
def test_expected_to_fail(): assert False

@pytest.fixture
def broken():
    yield
    raise RuntimeError

@pytest.mark.req("ERR-02")
def test_fails_afterwards(broken): pass

class TestGroup:
    pytestmark = pytest.mark.req("ERR-03")

    @pytest.mark.parametrize("number", [1, 2])
    @pytest.mark.req("ERR-04")
    def test_inherits(self, number): pass

def test_unmarked(): pass
"""


@pytest.fixture
def house(tmp_path: Path) -> Path:
    for name, text in SPEC.items():
        file = tmp_path / "spec" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_sample.py").write_text(TESTS, encoding="utf-8")
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "tests" / "conftest.py")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\ntestpaths = ["tests"]\naddopts = "-q --strict-markers"\n'
        'markers = ["req(*ids): requirements"]\n',
        encoding="utf-8",
    )
    return tmp_path


def trace(house: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), *arguments]
    if "--spec" not in arguments:
        command += ["--spec", "spec"]
    return subprocess.run(command, cwd=house, capture_output=True, text=True, check=False)


def record(house: Path, tests: dict[str, Any], exit_status: int = 0) -> None:
    file = house / ".trace" / "results.json"
    file.parent.mkdir(exist_ok=True)
    results = {"exit_status": exit_status, "not_collected": [], "tests": tests}
    file.write_text(json.dumps(results), encoding="utf-8")


def marked(*ids: str, outcome: str = "passed") -> dict[str, Any]:
    return {"t": {"ids": list(ids), "outcome": outcome}}


def test_the_suite_is_run_and_every_system_counted(house: Path) -> None:
    result = trace(house)
    assert result.returncode == 0, result.stdout + result.stderr
    lines = result.stdout.splitlines()
    assert "Control Room: 1 of 4 proven" in lines
    assert "  not proven: CR-02..04" in lines
    assert "Writers Factory: 1 of 3 proven" in lines
    assert "  not proven: WF-G07, WF-G60b" in lines
    assert "Sylk: 3 of 4 proven" in lines
    assert "  ERR: 3 of 4 proven; not proven: ERR-02" in lines
    assert "All: 5 of 11 proven" in lines
    expected = "Marked, but by a test that failed or was skipped: CR-02..04, ERR-02"
    assert expected in lines


@pytest.mark.parametrize("workers", ["0", "2"])
def test_results_are_the_same_on_one_and_on_several_workers(house: Path, workers: str) -> None:
    command = [sys.executable, "-m", "pytest", "-n", workers, "--trace-results=out/results.json"]
    subprocess.run(command, cwd=house, capture_output=True, check=False)
    results = json.loads((house / "out" / "results.json").read_text(encoding="utf-8"))
    assert results["exit_status"] == 1
    outcomes = {
        name.partition("::")[2]: (test["outcome"], test["ids"])
        for name, test in results["tests"].items()
    }
    assert outcomes == {
        "test_passes": ("passed", ["CR-01", "WF-G60a"]),
        "test_fails": ("failed", ["CR-02"]),
        "test_passes_too": ("passed", ["CR-02", "ERR-01"]),
        "test_skipped": ("skipped", ["CR-03"]),
        "test_expected_to_fail": ("skipped", ["CR-04"]),
        "test_fails_afterwards": ("failed", ["ERR-02"]),
        "TestGroup::test_inherits[1]": ("passed", ["ERR-03", "ERR-04"]),
        "TestGroup::test_inherits[2]": ("passed", ["ERR-03", "ERR-04"]),
        "test_unmarked": ("passed", []),
    }


@pytest.mark.parametrize("stranger", ["CR-99", "CR-1", "WF-G60", "XX-01", "cr-01"])
@pytest.mark.parametrize("outcome", ["passed", "failed", "skipped"])
def test_a_mark_without_a_requirement_fails(house: Path, stranger: str, outcome: str) -> None:
    record(house, marked("CR-01", stranger, outcome=outcome))
    result = trace(house, "--no-run")
    assert result.returncode == 1
    assert f"{stranger} is no requirement" in result.stdout


def test_neighbours_are_shown_as_ranges(house: Path) -> None:
    record(house, marked("CR-02"))
    assert "  not proven: CR-01, CR-03..04" in trace(house, "--no-run").stdout


def test_without_a_specification_there_is_nothing_to_trace(house: Path) -> None:
    result = trace(house, "--spec", "elsewhere")
    assert result.returncode == 2
    assert "No specification at elsewhere" in result.stderr
    assert "SPEC=" in result.stderr
    assert not (house / ".trace").exists()


@pytest.mark.parametrize("text", ["", "# Chapter\nSee CR-01 for more.\n"])
def test_a_specification_that_defines_nothing_is_noticed(house: Path, text: str) -> None:
    (house / "spec" / "alfred.md").write_text(text, encoding="utf-8")
    result = trace(house)
    assert result.returncode == 2
    assert "alfred.md defines no requirement" in result.stderr


def test_an_id_defined_twice_is_noticed(house: Path) -> None:
    (house / "spec" / "alfred.md").write_text("- **CR-01** again\n", encoding="utf-8")
    assert "CR-01 is defined in" in trace(house).stderr


def test_results_that_are_missing_empty_or_cut_short_prove_nothing(house: Path) -> None:
    assert "No results" in trace(house, "--no-run").stderr
    record(house, {})
    assert trace(house, "--no-run").returncode == 2
    record(house, marked("CR-01"), exit_status=2)
    result = trace(house, "--no-run")
    assert result.returncode == 2
    assert "did not run to its end" in result.stderr


def test_a_suite_that_cannot_be_collected_proves_nothing(house: Path) -> None:
    (house / "tests" / "test_broken.py").write_text("import no_such_module\n", encoding="utf-8")
    result = trace(house)
    assert result.returncode == 2
    assert "test_broken.py could not be collected" in result.stderr
