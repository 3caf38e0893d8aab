"""Every requirement of Writers Factory is proven by a test or stands among the decisions."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MARK = re.compile(r"mark\.req\((.*?)\)", re.DOTALL)
# The seven health checks are one requirement with a letter each.
_ID = re.compile(r"\bWF-G?\d+(?=[a-g]?\b)")
_LETTER = re.compile(r"\bWF-G60[a-g]\b")
_ROW = re.compile(r"^\| (WF-G?\d+) \| (.+) \|$", re.MULTILINE)


def marks() -> list[str]:
    files = (ROOT / "tests").rglob("test_*.py")
    return [mark for file in files for mark in _MARK.findall(file.read_text("utf-8"))]


def proven() -> set[str]:
    return {each for mark in marks() for each in _ID.findall(mark)}


def decided() -> dict[str, str]:
    return dict(_ROW.findall((ROOT / "docs" / "decisions.md").read_text("utf-8")))


def wanted() -> set[str]:
    stated = {f"WF-{number:02d}" for number in range(1, 108)}
    return stated | {f"WF-G{number:02d}" for number in range(1, 91)}


def test_every_requirement_is_proven_or_decided() -> None:
    assert sorted(wanted() - proven() - decided().keys()) == []


def test_all_seven_health_checks_are_proven() -> None:
    letters = {each for mark in marks() for each in _LETTER.findall(mark)}
    assert letters == {f"WF-G60{letter}" for letter in "abcdefg"}


def test_nothing_is_marked_that_nobody_asked_for() -> None:
    assert sorted(proven() - wanted()) == []


def test_a_decision_has_a_reason_and_goes_when_a_test_proves_the_requirement() -> None:
    assert decided()
    assert all(len(reason) > 40 for reason in decided().values())
    assert sorted(decided().keys() & proven()) == []
