"""Regular expressions that come with a project: with `re` none of these commands would ever end."""

import json
from pathlib import Path

import pytest
import yaml
from clitools import GOOD_REPLIES, Here

HOSTILE = ["((a+))+$", "(a|a)*b$", r"((?:\w|\w\w)+)+#"]
LETTERS = "a" * 60 + "!"


def set_errors(monkeypatch: pytest.MonkeyPatch, patterns: list[str]) -> None:
    monkeypatch.setenv("CALLBOARD_ERRORS_TRANSIENT_PATTERNS", json.dumps(patterns))


@pytest.mark.parametrize("pattern", HOSTILE)
def test_an_error_is_sorted_by_hostile_words(
    here: Here, project: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    failing = {"replies": [{"fail": {"status": 418, "message": LETTERS}, "times": "always"}]}
    (project / "failing.yaml").write_text(yaml.safe_dump(failing))
    set_errors(monkeypatch, [pattern])
    ended = here("run", "recipe", "--model", "script:failing.yaml", "--json")
    assert ended.code != 0
    assert LETTERS in ended.out + ended.err


def test_a_pattern_that_looks_ahead_is_refused_by_name(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_errors(monkeypatch, ["(?=time)out"])
    ended = here("doctor")
    assert ended.code != 0
    assert "looks ahead or behind" in ended.out + ended.err


@pytest.mark.parametrize("pattern", HOSTILE)
def test_a_script_with_a_hostile_pattern_answers(here: Here, project: Path, pattern: str) -> None:
    replies = yaml.safe_load(GOOD_REPLIES)
    replies["replies"].insert(0, {"matching": pattern + "never", "text": "x", "times": "always"})
    (project / "hostile.yaml").write_text(yaml.safe_dump(replies))
    story = next(iter(sorted((project / "Story").rglob("*.md"))))
    story.write_text(f"{story.read_text()}\n\n{LETTERS}\n")
    ended = here("run", "recipe", "--model", "script:hostile.yaml", "--json")
    assert ended.code == 0, ended.err


def test_a_script_that_refers_back_is_refused_with_its_place(here: Here, project: Path) -> None:
    (project / "back.yaml").write_text("replies:\n  - matching: (a)\\1\n    text: x\n")
    ended = here("run", "recipe", "--model", "script:back.yaml")
    assert ended.code != 0
    assert "back.yaml" in ended.out + ended.err
    assert "refers back" in ended.out + ended.err


@pytest.mark.parametrize("glob", ["*a" * 30 + "b", "**/" * 30 + "b", "**a" * 30 + "b"])
def test_a_path_of_many_stars_finds_nothing_soon(here: Here, project: Path, glob: str) -> None:
    (project / ("a" * 120 + ".md")).write_text("text\n")
    ended = here("tool", "run", "find_files", "--arg", f"glob={glob}", "--json")
    assert ended.code == 0, ended.err
    assert '"total":0' in ended.out.replace(" ", "")
