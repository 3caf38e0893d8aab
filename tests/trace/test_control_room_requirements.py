"""Every requirement of Control Room is proven by a test or stands among the decisions."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MARK = re.compile(r"mark\.req\((.*?)\)", re.DOTALL)
_ID = re.compile(r"\bCR-\d+\b")
_ROW = re.compile(r"^\| (CR-\d+) \| (.+) \|$", re.MULTILINE)


def proven() -> set[str]:
    files = (ROOT / "tests").rglob("test_*.py")
    marks = [mark for file in files for mark in _MARK.findall(file.read_text("utf-8"))]
    return {each for mark in marks for each in _ID.findall(mark)}


def decided() -> dict[str, str]:
    return dict(_ROW.findall((ROOT / "docs" / "decisions.md").read_text("utf-8")))


def test_every_requirement_is_proven_or_decided() -> None:
    wanted = {f"CR-{number:02d}" for number in range(1, 177)}
    assert sorted(wanted - proven() - decided().keys()) == []


def test_a_decision_has_a_reason_and_goes_when_a_test_proves_the_requirement() -> None:
    assert decided()
    assert all(len(reason) > 40 for reason in decided().values())
    assert sorted(decided().keys() & proven()) == []
