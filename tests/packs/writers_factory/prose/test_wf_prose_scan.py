"""The anti-pattern scanner: what it finds, what it leaves alone, and what a bad sheet cannot do."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.packs.writers_factory.prose import (
    Pattern,
    PatternSeverity,
    PatternSheet,
    UnsafeExpression,
    base_sheet,
    compile_safely,
    read_sheet,
    scan,
    write_table,
)

FIGHT = (
    "Mara lunged. The blade swung past her ear and she ducked under it. He kicked, missed, fell. "
    "She hit the wall like a sack of wet sand and rolled. He charged again."
)


def names(text: str, **options: object) -> list[str]:
    return [hit.pattern for hit in scan(text, **options)]  # type: ignore[arg-type]


def test_the_base_sheet_can_be_used_whole() -> None:
    assert base_sheet().problems == ()
    assert len(base_sheet().patterns) >= 15
    assert all(pattern.why and pattern.instead for pattern in base_sheet().patterns)


@pytest.mark.req("WF-66", "WF-G78")
@pytest.mark.parametrize(
    ("text", "pattern", "severity", "quote"),
    [
        (
            "He folded the map with surgical precision.",
            "with … precision",
            "zero_tolerance",
            "with surgical precision",
        ),
        (
            "Something stirred within her.",
            "something stirred within",
            "zero_tolerance",
            "Something stirred within",
        ),
        (
            "She looked away. It was clear that nobody would come.",
            "it was clear that",
            "deduction",
            "It was clear that",
        ),
        (
            "“Fine,” he said. That was not what he really meant.",
            "what was really meant",
            "deduction",
            "what he really meant",
        ),
        (
            "“Get out,” she said. She was furious.",
            "feeling named after speech",
            "deduction",
            "She was furious",
        ),
        (
            "“Get out,” she said angrily, and pointed.",
            "feeling named after speech",
            "deduction",
            "she said angrily",
        ),
        (
            "“Who goes there?” was shouted by the guard.",
            "passive dialogue tag",
            "deduction",
            "was shouted by",
        ),
        ("“Never,” came the reply.", "passive dialogue tag", "deduction", "came the reply"),
        (FIGHT, "simile in action", "deduction", "like a sack of wet sand and rolled"),
    ],
)
def test_each_rule_is_found_with_its_words(
    text: str, pattern: str, severity: str, quote: str
) -> None:
    hits = scan(text)
    assert [(hit.pattern, str(hit.severity), hit.quote) for hit in hits] == [
        (pattern, severity, quote)
    ]
    assert text[hits[0].offset : hits[0].end] == quote


@pytest.mark.req("WF-66")
@pytest.mark.parametrize(
    "text",
    [
        "The precision of the clock was well known.",
        "“It was clear that you lied,” she said.",
        "The lake lay like a sheet of lead. Nothing moved on it for a long while that evening.",
        "“Go,” she said, and put the cup down.",
        "“Go,” she said. She was afraid of the stairs.",
        "He was furious. “Go,” he said.",
        "“What happened?” was on everybody's lips.",
        "Mara ran. She ducked, rolled, hit the wall. I would like a word, she thought, and jumped.",
        "She ran as far as the wall and jumped as soon as the guard fell, as well as she could.",
    ],
)
def test_what_only_resembles_a_rule_is_left_alone(text: str) -> None:
    assert scan(text) == ()


@pytest.mark.req("WF-66", "WF-G78")
def test_three_paragraphs_that_open_with_i_count_in_the_first_person_only() -> None:
    text = (
        "I ran home.\n\nI’d lost my keys.\n\nI waited on my own step.\n\nThe rain came down on me."
    )
    assert names(text, pov="first") == ["paragraphs that open with I"]
    assert names(text, pov="third") == []
    assert names(text) in ([], ["paragraphs that open with I"])
    apart = "I ran home.\n\nThe door was open.\n\nI went in.\n\nI saw my coat."
    assert names(apart, pov="first") == []


@pytest.mark.req("WF-G78")
def test_offsets_and_lines_hold_with_front_matter_returns_and_emphasis() -> None:
    text = (
        "\ufeff---\r\ntitle: One\r\n---\r\n\r\nA quiet line.\r\n\r\n"
        "He cut *it* with\r\nsurgical precision."
    )
    (hit,) = scan(text)
    assert text[hit.offset : hit.end] == hit.quote == "with\r\nsurgical precision"
    assert hit.line == 7


@pytest.mark.req("WF-G78")
def test_patterns_of_the_project_are_found_and_broken_ones_are_told() -> None:
    sheet = read_sheet(
        "# Ours\n\n"
        "| pattern | regex or description | severity | why | instead |\n"
        "|---|---|---|---|---|\n"
        r"| orbs | `(?:blue\|green) orbs` | zero_tolerance | eyes | eyes |" + "\n"
        "| broken | `(unclosed` | deduction | | |\n"
        "| slow | `(a+)+b` | deduction | | |\n"
        "| wrong | `word` | fatal | | |\n"
        "| short |\n"
        "| typo | check: action_smiles | deduction | | |\n"
        "| taste | too many adjectives before a noun | deduction | | |\n"
    )
    assert [pattern.name for pattern in sheet.patterns] == ["orbs", "taste"]
    assert len(sheet.problems) == 5
    assert "no check 'action_smiles'" in sheet.problems[4]
    assert "action_similes" in sheet.problems[4]
    assert "never closed" in sheet.problems[0]
    assert "line 7" in sheet.problems[1]
    assert names("Her green orbs shone. A word.", patterns=sheet) == ["orbs"]
    assert sheet.zero_tolerance(5) == ("orbs",)


def test_a_sheet_survives_being_written_and_read() -> None:
    sheet = base_sheet()
    assert read_sheet(write_table(sheet.patterns)).patterns == sheet.patterns


@given(
    st.lists(
        st.builds(
            Pattern,
            name=st.from_regex(r"[a-z]{1,6}( [a-z]{1,6}){0,2}", fullmatch=True),
            severity=st.sampled_from(PatternSeverity),
            description=st.from_regex(r"[A-Za-z|., ]{0,30}", fullmatch=True).map(
                lambda text: " ".join(text.split())
            ),
            why=st.from_regex(r"[A-Za-z|]{0,10}", fullmatch=True),
        ),
        max_size=4,
    )
)
def test_any_row_survives_being_written_and_read(patterns: list[Pattern]) -> None:
    kept = [each for each in patterns if each.name and each.name != "pattern"]
    assert list(read_sheet(write_table(kept)).patterns) == kept


@pytest.mark.req("WF-G78")
@pytest.mark.parametrize(
    "source",
    [
        "(a+)+b",
        "(a|a)*b",
        "(a?){30}x",
        ".*.*.*.*x",
        "a?" * 40,
        "(?=a)b",
        r"(a)\1",
        "x**",
        "a" * 500,
    ],
)
def test_an_expression_that_could_run_forever_is_refused(source: str) -> None:
    with pytest.raises(UnsafeExpression):
        compile_safely(source)


@pytest.mark.req("WF-G78")
@pytest.mark.parametrize("source", [r"\b", r"\B", "^", "$", "a?", "x|", r"(\bx)?"])
def test_an_expression_that_matches_no_letter_is_refused(source: str) -> None:
    with pytest.raises(UnsafeExpression, match="matches nothing"):
        compile_safely(source)


@pytest.mark.req("WF-G78")
@given(st.text(alphabet="ab.*+?()[]|{}12,\\^w ", max_size=24))
def test_no_expression_a_writer_types_crashes_or_hangs(source: str) -> None:
    table = f"| it | `{source.replace('|', chr(92) + '|')}` | deduction | | |"
    began = time.process_time()
    sheet = read_sheet(table)
    scan("ab" * 300 + " aab b. " + "a" * 300, patterns=sheet)
    assert time.process_time() - began < 5


@given(st.text(max_size=300))
def test_any_text_can_be_scanned_and_every_quote_is_its_own(text: str) -> None:
    everything = PatternSheet((Pattern("letter", expression=r"[a-z]\w*"),))
    for hit in scan(text, patterns=everything):
        assert text[hit.offset : hit.end] == hit.quote
    scan(text)
