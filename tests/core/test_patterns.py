"""Patterns of strangers: they mean what Python's mean, and never take longer than the text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.patterns import UnusablePattern, compile_pattern, pattern_problem

ORDINARY = (
    r"draft (?:the )?scene \d+",
    r"\bcafé\b",
    r"\bcaf\b",
    r"[^\W\d_]+x",
    r"^\s*a{,2}b",
    r"[\]a-]+",
    r"\bé\w*\b.",
    r"(?i)É\b",
    r"(?m)^b$",
    r"\b\w+\b \b\w+\b",
    r"[\S]+ä",
    r"[\D]x|\D+é",
    r"x\Z",
    r"(?P<name>a|é)+\b",
    r"\u00e9b|\xe9a",
    r"[[a]b|{a}|\.\-\ ",
    r"a|\bb|é\Z",
    r"\W\b\w|[\W]a",
    r"(?:\w|\s)+\.",
)


@pytest.mark.parametrize("ignores_case", [False, True])
@pytest.mark.parametrize("pattern", ORDINARY)
@pytest.mark.filterwarnings("ignore:Possible nested set")
@given(text=st.text(alphabet="abcxéÉäs 12\n.-]{}[ñ\u00a0_\u2019", max_size=12))
def test_a_pattern_finds_what_python_finds(pattern: str, ignores_case: bool, text: str) -> None:
    theirs = re.compile(pattern, re.IGNORECASE if ignores_case else 0)
    ours = compile_pattern(pattern, ignores_case=ignores_case)
    assert list(ours.finditer(text)) == [found.span() for found in theirs.finditer(text)]
    assert ours.fullmatch(text) == (theirs.fullmatch(text) is not None)


@pytest.mark.parametrize("pattern", ["b$", r"\w+é$"])
@given(text=st.text(alphabet="abé\n", max_size=6))
def test_an_end_is_an_end(pattern: str, text: str) -> None:
    theirs = re.compile(pattern)
    ours = compile_pattern(pattern)
    assert (ours.search(text) is None) == (theirs.search(text) is None)
    assert ours.fullmatch(text) == (theirs.fullmatch(text) is not None)


# With `re` each of these needs longer than the age of the universe.
@pytest.mark.parametrize(
    "pattern", ["((a+))+$", "(a|a)*b$", r"((?:\w|\w\w)+)+#", "(a*)*b", "(?:a?){40}a{40}b"]
)
@pytest.mark.parametrize("text", ["a" * 20_000 + "!", "á" * 20_000 + "!"])
def test_a_pattern_that_doubles_with_every_letter_ends(pattern: str, text: str) -> None:
    assert compile_pattern(pattern).search(text) is None


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        (r"(a)\1", "refers back"),
        (r"(?P<n>a)(?P=n)", "refers back"),
        ("(?=a)b", "looks ahead or behind"),
        ("(?<!a)b", "looks ahead or behind"),
        ("(?>a)b", "atomic"),
        (r"a\Bb", "no word boundary"),
        ("(", "missing )"),
        ("[a", "missing ]"),
        ("a\\", "trailing"),
        ("a{1001}", "repetition"),
        ("((a{1,100}){1,100}){1,100}", "repetition"),
        (r"(?:\w{1,40} ){1,20}", "too"),
        ("x" * 1_001, "longer than"),
        ("\ud800", "not a regular expression"),
    ],
)
def test_what_the_engine_cannot_do_is_named(pattern: str, told: str) -> None:
    problem = pattern_problem(pattern)
    assert problem is not None and told in problem
    with pytest.raises(UnusablePattern) as caught:
        compile_pattern(pattern)
    assert caught.value.fix


def test_half_a_surrogate_pair_in_a_text_is_only_a_character() -> None:
    assert compile_pattern(r"a.b").search("xa\ud800b") == (1, 4)
