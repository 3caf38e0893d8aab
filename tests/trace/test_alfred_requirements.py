"""Every requirement of Alfred is proven by a test or stands among the decisions."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MARK = re.compile(r"mark\.req\((.*?)\)", re.DOTALL)
_ID = re.compile(r"\bAL-\d+\b")
_ROW = re.compile(r"^\| (AL-\d+) \| (.+) \|$", re.MULTILINE)
_SCENARIO = re.compile(r"def test_scenario_(\d\d)_")
WANTED = {f"AL-{number:02d}" for number in range(1, 159)}
SCENARIOS = 15


def proven() -> set[str]:
    files = (ROOT / "tests").rglob("test_*.py")
    marks = [mark for file in files for mark in _MARK.findall(file.read_text("utf-8"))]
    return {each for mark in marks for each in _ID.findall(mark)}


def decided() -> dict[str, str]:
    return dict(_ROW.findall((ROOT / "docs" / "decisions.md").read_text("utf-8")))


def test_every_requirement_is_proven_or_decided() -> None:
    assert sorted(WANTED - proven() - decided().keys()) == []


def test_nothing_is_marked_that_nobody_asked_for() -> None:
    assert sorted(proven() - WANTED) == []


def test_a_decision_has_a_reason_and_goes_when_a_test_proves_the_requirement() -> None:
    assert decided()
    assert all(len(reason) > 40 for reason in decided().values())
    assert sorted(decided().keys() & proven()) == []


def test_all_scenarios_are_played() -> None:
    files = (ROOT / "tests" / "packs" / "alfred" / "acceptance").glob("test_*.py")
    played = {int(n) for file in files for n in _SCENARIO.findall(file.read_text("utf-8"))}
    assert played == set(range(1, SCENARIOS + 1))
