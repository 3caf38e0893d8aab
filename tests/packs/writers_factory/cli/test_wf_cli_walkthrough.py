"""The tutorial and the sample tell one story, and its first part is walked as it stands there."""

import re
import shlex
from pathlib import Path

import pytest
from wf_cli_book import Book

from callboard.cli import exits

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs/writers-factory.md").read_text("utf-8")
SAMPLE = ROOT / "src/callboard/packs/writers_factory/sample"


def commands(beginning: str, end: str) -> list[list[str]]:
    """Return the commands of a part of the page, as a shell would read them."""
    part = PAGE[PAGE.index(beginning) : PAGE.index(end)]
    blocks = re.findall(r"```\n(.*?)```", part, re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    found = [shlex.split(line, comments=True) for line in lines if line.startswith("callboard ")]
    assert found
    return [words[1:] for words in found]


def test_the_tutorial_and_the_sample_tell_one_story() -> None:
    idea = (SAMPLE / "idea.md").read_text("utf-8")
    title = idea.splitlines()[0].removeprefix("# ")
    new = commands("### 1. Begin", "### 2. Find")[0]
    assert new[new.index("--title") + 1] == title
    assert new[new.index("--genre") + 1] in idea
    assert "Maren Holt" in idea and "you> Maren Holt" in PAGE
    assert "Ines" not in PAGE


def test_the_foundation_of_the_tutorial_opens_the_gate(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    steps = [words for words in commands("### 1. Begin", "### 2. Find") if words[1] != "chat"]
    assert book.call(*steps[0]).code == exits.OK
    monkeypatch.chdir(tmp_path / "keepers-daughter")
    # What the chat of the tutorial leaves behind.
    flaw = re.findall(r"you> (She cannot .*)", PAGE)[0]
    said = ("--set", "name=Maren Holt", "--set", f"fatal_flaw={flaw}")
    assert book.call("factory", "template", "protagonist", *said).code == exits.OK
    for words in steps[1:]:
        ended = book.call(*words)
        assert ended.code == exits.OK, (words, ended.err)
        assert "CHALLENGE" not in ended.out + ended.err, words
    assert "VOICE_CALIBRATION" in book.call("factory", "mode").out
