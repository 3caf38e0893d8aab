"""Words: what is cut says so and keeps its size; names compare by what they have in common."""

from hypothesis import given
from hypothesis import strategies as st

from callboard.core.words import folded_name, one_line, shorten, shorten_at_word


@given(st.text(), st.integers(1, 40), st.booleans(), st.booleans())
def test_a_shortened_text_opens_like_the_whole_and_fits(
    text: str, most_chars: int, on_top: bool, strip: bool
):
    short = shorten(text, most_chars, on_top=on_top, strip=strip)
    if len(text) <= most_chars:
        assert short == text
        return
    assert short.endswith("…")
    assert text.startswith(short[:-1])
    assert len(short) <= most_chars + on_top
    if not strip:
        assert len(short) == most_chars + on_top


def test_the_mark_is_counted_or_comes_on_top():
    assert shorten("abcdef", 4) == "abc…"
    assert shorten("abcdef", 4, on_top=True) == "abcd…"
    assert shorten("ab  cdef", 5, strip=True) == "ab…"
    assert shorten("abcdef", 0) == "…"


def test_a_text_is_cut_behind_a_word_if_there_is_one():
    assert shorten_at_word("the long bell rings", 10) == "the long…"
    assert shorten_at_word("unbroken", 3, " …") == "unb …"
    assert shorten_at_word("short", 5) == "short"


def test_one_line_has_single_spaces():
    assert one_line(" a\n\tb  c ", 10) == "a b c"
    assert one_line("a b c d", 3, strip=True) == "a…"


def test_spellings_of_one_name_have_one_key():
    assert folded_name("  Inès\u0301  VARGA ") == folded_name("ine\u0300s\u0301 varga")
    assert folded_name("Straße") == folded_name("STRASSE")
    assert folded_name("Ines") != folded_name("Inez")
