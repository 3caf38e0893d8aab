"""The sample book is without a fault, and its twins have exactly the one that was planted."""

import json
from importlib.resources import files

import pytest
from qf_planter import FLAWS, plant

from callboard.packs.questfoundry.bars.judging import judge
from callboard.packs.questfoundry.book.model import Book, SectionKind
from callboard.packs.questfoundry.verdict import Bar, BarStatus, GateDecision


def sample() -> Book:
    held = files("callboard.packs.questfoundry").joinpath("sample/the-salt-bell.json")
    return Book.from_json(json.loads(held.read_text("utf-8")))


def test_the_sample_has_no_red_and_no_yellow_bar() -> None:
    report = judge(sample())
    assert report.decision is GateDecision.PASS
    assert not report.findings
    assert {each.bar for each in report.bars if each.status is BarStatus.NA} == {Bar.DETERMINISM}


def test_the_sample_shows_what_a_branching_book_has() -> None:
    book = sample()
    assert len(book.sections) == 42
    assert len(book.gateways) == 2
    assert len([each for each in book.sections if each.kind is SectionKind.TERMINAL]) == 5
    assert any(each.kind is SectionKind.HUB for each in book.sections)
    assert book.returns and book.pictures and book.cues and book.codex
    assert book == Book.from_json(json.loads(json.dumps(book.to_json())))


@pytest.mark.parametrize("flaw", FLAWS)
def test_the_twin_of_the_sample_with_one_flaw_is_told_apart(flaw: str) -> None:
    planted = plant(sample(), flaw, seed=7)
    report = judge(planted.book)
    hits = [each for each in report.findings if each.check in planted.checks]
    assert any(planted.place in f"{each.place} {each.evidence}" for each in hits)
    assert report.decision is not GateDecision.PASS
