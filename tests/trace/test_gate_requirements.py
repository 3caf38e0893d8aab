"""Every requirement of the model gate is proven by a test or stands among the decisions."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MARK = re.compile(r"mark\.req\((.*?)\)", re.DOTALL)
_ID = re.compile(r"\b(?:LLM|ERR)-\d+\b")


def wanted() -> set[str]:
    ranges = {"LLM": ((1, 73), (105, 111)), "ERR": ((1, 44), (111, 131), (146, 154))}
    return {
        f"{prefix}-{number:02d}"
        for prefix, spans in ranges.items()
        for first, last in spans
        for number in range(first, last + 1)
    }


def proven() -> set[str]:
    marks = [
        mark
        for file in (ROOT / "tests").rglob("test_*.py")
        for mark in _MARK.findall(file.read_text("utf-8"))
    ]
    return {each for mark in marks for each in _ID.findall(mark)}


def decided() -> dict[str, str]:
    rows = (ROOT / "docs" / "decisions.md").read_text("utf-8").splitlines()
    cells = [row.strip("| ").split(" | ", 1) for row in rows if row.startswith("| ")]
    return {name: reason for name, *rest in cells for reason in rest if _ID.fullmatch(name)}


def test_every_requirement_of_the_gate_is_proven_or_decided() -> None:
    assert len(wanted()) == 154
    missing = wanted() - proven() - decided().keys()
    assert sorted(missing) == []


def test_a_decision_has_a_reason_and_is_not_kept_once_a_test_proves_the_requirement() -> None:
    assert decided()
    for name, reason in decided().items():
        assert len(reason) > 10, f"{name} needs a reason"
    assert sorted(decided().keys() & proven()) == []
