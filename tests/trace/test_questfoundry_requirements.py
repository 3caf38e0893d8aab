"""Every requirement of QuestFoundry is proven by a test or stands among the decisions."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MARK = re.compile(r"mark\.req\((.*?)\)", re.DOTALL)
_ID = re.compile(r"\bQF-\d+\b")
_IN_TEXT = re.compile(r"QF-(\d+)(?:\.\.(\d+))?((?:, \d+)*)")


def wanted() -> set[str]:
    return {f"QF-{number:02d}" for number in range(1, 152)}


def proven() -> set[str]:
    marks = [
        mark
        for file in (ROOT / "tests").rglob("test_*.py")
        for mark in _MARK.findall(file.read_text("utf-8"))
    ]
    return {each for mark in marks for each in _ID.findall(mark)}


def decided() -> set[str]:
    """Return the ids that decisions name: alone, as a range, or several after one another."""
    found: set[str] = set()
    for first, last, more in _IN_TEXT.findall((ROOT / "docs" / "decisions.md").read_text("utf-8")):
        numbers = [*range(int(first), int(last or first) + 1), *map(int, re.findall(r"\d+", more))]
        found |= {f"QF-{number:02d}" for number in numbers}
    return found


def test_every_requirement_of_questfoundry_is_proven_or_decided() -> None:
    assert len(wanted()) == 151
    assert sorted(wanted() - proven() - decided()) == []


def test_marks_and_decisions_name_requirements_there_are() -> None:
    assert sorted((proven() | decided()) - wanted()) == []
    # A decision may say how something is met and a test prove that way; most need no decision.
    assert len(proven()) > 130
