"""Contradictions planted in the canon of the sample's twin are found; sound canon is left alone."""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from types import FrameType
from typing import Any

import pytest

from callboard.library.story.contradiction import read_rules
from callboard.packs.questfoundry.bars.judging import BookMemory, judge
from callboard.packs.questfoundry.book.model import Book, CodexEntry
from callboard.packs.questfoundry.canon.clashes import disagreements
from callboard.packs.questfoundry.canon.statements import statements_in
from callboard.packs.questfoundry.verdict import Bar, BarFinding, BarStatus, GateDecision

Rows = list[dict[str, Any]]


def sample() -> Book:
    held = files("callboard.packs.questfoundry").joinpath("sample/the-salt-bell.json")
    return Book.from_json(json.loads(held.read_text("utf-8")))


def fact(name: str, attribute: str, value: str, since: str = "") -> dict[str, Any]:
    return {"name": name, "attribute": attribute, "value": value, "since": since}


def event(name: str, order: int, told: str = "", chain: int = 0) -> dict[str, Any]:
    return {"id": name, "order": order, "event": told, "chain": chain}


def with_canon(book: Book | None = None, summaries: Rows | None = None, **pack: Any) -> Book:
    held = {"canon_pack": pack, "player_safe_summaries": {"summaries": summaries or []}}
    return replace(book or sample(), canon=statements_in(held))


def saying(text: str, at: str = "square", book: Book | None = None) -> Book:
    book = book or sample()
    sections = (
        replace(each, text=f"{each.text}\n\n{text}") if each.id == at else each
        for each in book.sections
    )
    return replace(book, sections=tuple(sections))


def told(book: Book, check: str) -> list[BarFinding]:
    report = judge(book)
    for each in report.findings:
        assert each.evidence and each.smallest_fix and each.owner_role and each.target_step
    return [each for each in report.findings if each.check == check]


LINE = [event("fire", 1, "The mill burns"), event("flood", 2, "The sea rises"), event("vow", 3)]
PLANTED: dict[str, tuple[dict[str, Any], Sequence[str]]] = {
    "two values of one attribute, named in two ways": (
        {"entities": [fact("Bram", "eyes", "green"), fact("bram", "Eye colour", "blue")]},
        ("green", "blue"),
    ),
    "an attribute no rule knows": (
        {"entities": [fact("The lamp", "lit by", "Nan"), fact("lamp", "Lit by", "the smith")]},
        ("Nan", "the smith"),
    ),
    "opposites": (
        {"entities": [fact("Bram", "temper", "loyal"), fact("Bram", "temper", "treacherous")]},
        ("loyal", "treacherous"),
    ),
    "two ages": (
        {"entities": [fact("Bram", "age", "41"), fact("Bram", "age", "52 years")]},
        ("41", "52"),
    ),
    "alive after a death": (
        {
            "entities": [
                fact("Bram", "status", "drowned", "fire"),
                fact("Bram", "status", "alive", "vow"),
            ],
            "timeline": LINE,
        },
        ("drowned since fire", "alive since vow"),
    ),
    "the dead learn something": (
        {
            "entities": [fact("Bram", "status", "dead", "fire")],
            "timeline": LINE,
            "knowledge": [{"actor": "Bram", "knows": "the old beat", "from": "vow"}],
        },
        ("dead since fire", "the old beat from vow"),
    ),
    "events in a circle, over two chains": (
        {"timeline": [*LINE, event("vow", 1, chain=1), event("fire", 2, chain=1)]},
        ("vow before fire", "fire before flood before vow"),
    ),
    "relations that exclude each other": (
        {"entities": [fact("Bram", "loves", "Nan"), fact("Bram", "hates", "Nan")]},
        ("loves is Nan", "hates is Nan"),
    ),
    "one person under two names": (
        {
            "entities": [
                fact("The Lamplighter", "true name", "Bram Hale"),
                fact("The Lamplighter", "birthplace", "Sorrel"),
                fact("Bram Hale", "born in", "Wick"),
            ]
        },
        ("Sorrel", "Wick"),
    ),
    "somebody knows of what is still to come": (
        {"timeline": LINE, "knowledge": [{"actor": "Bram", "knows": "vow", "from": "fire"}]},
        ("knows vow from fire",),
    ),
    "rules of the world that deny each other": (
        {
            "constraints": [
                {"statement": "Nobody can cross the causeway at high water"},
                {"statement": "A rider can cross the causeway at high water"},
            ]
        },
        ("Nobody can cross", "A rider can cross"),
    ),
    "an answer against a fact": (
        {
            "entities": [fact("Bram", "eyes", "green")],
            "answers": [{"question_id": "Q1", "answer": "Bram has brown eyes."}],
        },
        ("Bram has brown eyes", "green"),
    ),
}


@pytest.mark.req("QF-110")
@pytest.mark.parametrize("kind", PLANTED)
def test_a_contradiction_planted_in_canon_is_named_with_both_sides(kind: str) -> None:
    pack, words = PLANTED[kind]
    book = with_canon(**pack)
    (found,) = told(book, "canon_clash")
    assert found.status is BarStatus.RED and judge(book).decision is GateDecision.BLOCK
    assert all(word in found.evidence for word in words), found.evidence
    assert (found.owner_role, found.loop) == ("lore_weaver", "lore_deepening")
    assert found.target_step == "step_3_contradiction_check"


def test_what_changes_agrees_or_is_left_open_on_purpose_is_no_contradiction() -> None:
    book = with_canon(
        entities=[
            fact("Bram", "rank", "mate", "fire"),
            fact("Bram", "rank", "captain", "vow"),
            # Of two chains that share no event nobody knows which comes first.
            fact("Bram", "hair", "red", "fire"),
            fact("Bram", "hair", "white", "wedding"),
            fact("Bram", "status", "dead", "vow"),
            fact("Bram", "status", "alive", "wedding"),
            fact("Bram", "birthplace", "Wick"),
            fact("Bram", "born in", "the old Wick"),
            fact("Bram", "alias", "Ned, the Lamplighter"),
            fact("Ned", "skill", "rowing"),
            fact("Bram", "skill", "whistling"),
            fact("Bram", "loves", "Nan"),
            fact("Bram", "loves", "Joss"),
            fact("Joss", "eyes", "green"),
            fact("Joss", "eyes", "brown"),
        ],
        timeline=[*LINE, event("wedding", 1, chain=1), event("birth", 2, chain=1)],
        knowledge=[
            {"actor": "Bram", "knows": "the beat", "from": "flood"},
            {"actor": "Bram", "knows": "fire", "from": "flood"},
        ],
        constraints=[
            {"statement": "Nobody can cross the causeway at high water"},
            {"statement": "The bell is never rung twice"},
        ],
        mysteries=[{"topic": "What eyes Joss has", "bounds": "one of the two", "revisit": "vow"}],
    )
    report = judge(book)
    assert report.decision is GateDecision.PASS, report.findings


def test_a_mystery_of_something_else_or_without_bounds_excuses_nothing() -> None:
    eyes = [fact("Joss", "eyes", "green"), fact("Joss", "eyes", "brown")]
    for left in ({"bounds": "one of the two", "revisit": ""}, {"bounds": " ", "revisit": "vow"}):
        book = with_canon(entities=eyes, mysteries=[{"topic": "The eyes of Joss", **left}])
        assert told(book, "canon_clash")
    other = {"topic": "Where Joss was born", "bounds": "near the sea", "revisit": "vow"}
    assert told(with_canon(entities=eyes, mysteries=[other]), "canon_clash")


def test_the_sample_agrees_with_a_canon_that_fits_it() -> None:
    book = with_canon(
        entities=[
            fact("Nan", "eyes", "grey"),
            fact("Nan", "age", "eighty-one"),
            fact("Nan", "occupation", "net mender"),
            fact("Nan", "hair", "white"),
            fact("Ada Hale", "alias", "Ada"),
            fact("Ada Hale", "status", "dead"),
            fact("Ada Hale", "hair", "red"),
            fact("Tobias Hale", "status", "dead"),
            fact("The bell", "material", "bronze without a clapper"),
            fact("The Lighthouse", "fuel", "oil"),
            fact("Hale's Foot", "kind", "tidal island"),
        ],
        timeline=LINE,
        answers=[{"question_id": "Q1", "answer": "Ada rowed away because the bell called her."}],
    )
    report = judge(book)
    assert report.decision is GateDecision.PASS, report.findings
    assert "texts that name who they are about" in report.bar(Bar.INTEGRITY).facts[0]


@pytest.mark.parametrize(
    ("canon", "said"),
    [
        (fact("Bram", "eyes", "green"), "Bram looks at you with his blue eyes."),
        (fact("Bram", "hair", "black"), "Bram’s red hair is wet."),
        (fact("Bram", "age", "41"), "Bram is sixty-two years old."),
        (fact("Bram", "species", "human"), "Bram is an elf."),
        (fact("Bram", "height", "5 feet 2 inches"), "Bram is six feet four inches tall."),
    ],
)
def test_a_section_that_says_what_canon_denies_is_red_at_its_place(
    canon: dict[str, Any], said: str
) -> None:
    (found,) = told(with_canon(saying(said), entities=[canon]), "prose_against_canon")
    assert found.place == "square" and found.status is BarStatus.RED
    assert said in found.evidence and canon["value"] in found.evidence
    assert (found.owner_role, found.target_step) == ("scene_smith", "step_3_prose_pass")


def test_a_section_is_held_against_canon_under_any_name_and_never_against_another_way() -> None:
    canon = [fact("Bram Hale", "alias", "The Lamplighter"), fact("Bram Hale", "eyes", "green")]
    book = saying("The Lamplighter has blue eyes.")
    assert told(with_canon(book, entities=canon), "prose_against_canon")
    # Two sections need not be of one playthrough.
    both = saying("Nan has grey eyes.", "shore", saying("Nan has brown eyes."))
    assert judge(with_canon(both, entities=canon)).decision is GateDecision.PASS


def test_what_a_character_says_is_no_certain_contradiction() -> None:
    book = saying("“Bram has blue eyes,” says the smith.")
    (found,) = told(
        with_canon(book, entities=[fact("Bram", "eyes", "green")]), "prose_against_canon"
    )
    assert found.status is BarStatus.YELLOW


def test_an_entry_that_says_what_canon_denies_is_the_curators() -> None:
    entry = CodexEntry("bram", "Bram", "Bram keeps the light. Bram has blue eyes.")
    book = replace(sample(), codex=(*sample().codex, entry))
    (found,) = told(
        with_canon(book, entities=[fact("Bram", "eyes", "green")]), "codex_against_canon"
    )
    assert found.place == "codex bram" and found.owner_role == "codex_curator"


def test_somebody_canon_calls_dead_may_not_speak_unremarked() -> None:
    canon = [fact("Bram", "status", "dead")]
    (found,) = told(with_canon(saying("“Go home,” says Bram."), entities=canon), "dead_who_acts")
    assert found.status is BarStatus.YELLOW and "square" in found.place
    dated = with_canon(
        saying("“Go home,” says Bram."),
        entities=[fact("Bram", "status", "dead", "vow")],
        timeline=LINE,
    )
    assert not told(dated, "dead_who_acts")


def test_what_was_not_read_is_not_checked() -> None:
    canon = [fact("Bram", "eyes", "green")]
    book = replace(with_canon(saying("Bram hat blaue Augen."), entities=canon), language="de")
    (found,) = told(book, "canon_not_read")
    assert found.status is BarStatus.UNKNOWN and "'de'" in found.evidence
    assert judge(sample()).bar(Bar.INTEGRITY).facts[0].startswith("canon: none")


@pytest.mark.req("QF-97")
def test_the_leak_scan_knows_what_canon_keeps_secret() -> None:
    answer = "Nan sank the bell with her own hands."
    secret = {"question_id": "Q1", "answer": f"Not the sea. {answer}", "sensitivity": "spoiler"}
    book = saying("They say that Nan sank the bell with her own hands!")
    (found,) = told(with_canon(book, answers=[secret]), "spoiler")
    assert found.place == "square" and found.status is BarStatus.RED
    open_one = {**secret, "sensitivity": "safe"}
    assert not told(with_canon(book, answers=[open_one]), "spoiler")


def test_an_entry_may_say_of_its_topic_only_what_a_summary_lets_out() -> None:
    entry = CodexEntry("lamp", "The Lamp", "The lamp is lit by the keeper's sister.")
    book = replace(sample(), codex=(*sample().codex, entry))
    canon = [fact("Lamp", "lit by", "the keeper's sister")]
    (found,) = told(with_canon(book, entities=canon), "secret_told")
    assert found.place == "codex lamp" and "lit by" in found.evidence
    summaries = [{"topic": "Lamp", "text": "It is lit by the keeper's sister."}]
    assert not told(with_canon(book, summaries, entities=canon), "secret_told")


def test_a_changed_section_is_read_again_and_an_old_look_is_not_mistaken_for_it() -> None:
    memory = BookMemory()
    canon = [fact("Bram", "eyes", "green")]
    sound = with_canon(saying("Bram has green eyes."), entities=canon)
    assert judge(sound, previous=memory).decision is GateDecision.PASS
    broken = with_canon(saying("Bram has blue eyes."), entities=canon)
    assert judge(broken, previous=memory).decision is GateDecision.BLOCK
    assert judge(sound, previous=memory).decision is GateDecision.PASS


def work_for(count: int) -> int:
    """Count the lines of code that holding so many facts against each other runs through."""
    people = count // 5
    rows = [
        fact(f"Person {number % people}", f"attribute {number // people}", "same")
        for number in range(count)
    ]
    ties = ("loves", "hates", "owns")
    rows += [fact(f"Person {n}", ties[n % 3], f"Person {n + 1}") for n in range(people)]
    timeline = [event(f"e{number}", number) for number in range(people)]
    statements = statements_in({"canon_pack": {"entities": rows, "timeline": timeline}})
    rules, lines = read_rules(), 0

    def count_line(frame: FrameType, kind: str, value: object) -> Any:
        nonlocal lines
        lines += kind == "line"
        return count_line

    before = sys.gettrace()
    sys.settrace(count_line)
    try:
        assert not disagreements(statements, rules)
    finally:
        sys.settrace(before)
    return lines


def test_five_times_the_canon_is_five_times_the_work() -> None:
    work_for(50)
    assert work_for(5_000) < 6.5 * work_for(1_000)
