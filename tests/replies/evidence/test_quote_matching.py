"""Quotes are found however they are set, and only if they are there."""

import pytest
from evidence_library import SCENE_TEXT, Library
from hypothesis import assume, given
from hypothesis import strategies as st

from callboard.replies.evidence import (
    Citation,
    CitationKind,
    SourceFile,
    holds_quote,
    is_quotable,
    normalise,
    parse_sources,
    render_citation,
    verify,
)


@pytest.mark.req("CR-29")
@pytest.mark.parametrize(
    "quote",
    [
        "His eyes were green in the firelight",
        "His eyes were *green* in the firelight",
        "eyes  were\u00a0green in the\tfirelight",
        '"Stay," Mira said',
        "\u201cStay,\u201d Mira said; \u201cthere is nothing left",
        "Kael turned \u2026 did not blink",
        "Kael turned... he did not blink.",
        "Kael turned [...] did not blink",
        "\u2026he did not blink\u2026",
        "there is nothing left\u2026 nothing at all",
        "there is nothing left... nothing at all",
        "His e\u2026 The gate stood open",
        "\uff28is eyes were green",
        "not blink. \u201cStay,\u201d Mira said",
    ],
)
def test_a_true_quote_is_found(quote: str) -> None:
    assert is_quotable(quote)
    assert holds_quote(SCENE_TEXT, quote)


@pytest.mark.req("CR-29")
@pytest.mark.parametrize(
    "quote",
    [
        "His eyes were grey in the firelight",
        "his eyes were green",
        "did not blink \u2026 Kael turned",
        "eyes were gree",
        "is eyes were green",
        "Kael \u2026 did \u2026 stay \u2026 open",
        "The gate stood open. Kael turned",
        "",
        "\u2026 \u2026",
    ],
)
def test_a_false_one_is_not(quote: str) -> None:
    assert not holds_quote(SCENE_TEXT, quote)


@pytest.mark.req("CR-29")
def test_single_words_cannot_be_strung_together() -> None:
    text = "Kael came home. Mira had green eyes. The dog was dead."
    assert not holds_quote(text, "Kael \u2026 had \u2026 dead")
    assert holds_quote(text, "Kael \u2026 Mira had green")


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("grey eyes", True),
        ("the eyes", True),
        ("eyes grey", True),
        ("an eye", False),
        ("firelight", False),
        ("a b c d", False),
        ("\u2014 \u2014 \u2014 \u2014 \u2014", False),
        ("\u5f7c\u306e\u76ee\u306f\u7dd1\u8272\u3060\u3063\u305f", True),
    ],
)
@pytest.mark.req("CR-29")
def test_a_quote_needs_two_words_and_eight_characters(quote: str, *, expected: bool) -> None:
    assert is_quotable(quote) is expected


def test_names_and_products_keep_their_marks() -> None:
    assert normalise("call snake_case and 2*3 now") == "call snake_case and 2*3 now"
    assert normalise("__very__ *loud* _soft_ ~~gone~~ un*frigging*real") == (
        "very loud soft gone unfriggingreal"
    )
    assert not holds_quote("he paid 2*3 coins", "paid 23 coins")


def test_markdown_escapes_and_hard_breaks_do_not_matter() -> None:
    text = "She said \\*no\\* and\\\nleft C:\\\\temp behind."
    assert holds_quote(text, "She said no and left")
    assert holds_quote(text, "She said \\*no\\* and")
    assert holds_quote(text, "left C:\\\\temp behind")


_texts = st.lists(
    st.text(
        alphabet=st.one_of(
            st.characters(exclude_categories=("Cs", "Cc")),
            st.sampled_from("*_\\\"'\u201c\u201d\u2026`~.;-"),
        ),
        min_size=1,
        max_size=9,
    ).filter(lambda word: word.split() == [word]),
    min_size=2,
    max_size=30,
)


@st.composite
def _quoted_text(draw: st.DrawFn) -> tuple[str, str]:
    words = draw(_texts)
    seams = draw(st.lists(st.sampled_from([" ", "\n", "  ", "\n\n"]), min_size=len(words)))
    first = draw(st.integers(0, len(words) - 1))
    last = draw(st.integers(first, len(words) - 1))
    text = "".join(word + seam for word, seam in zip(words, seams, strict=False))
    return text, " ".join(words[first : last + 1])


@given(_quoted_text())
@pytest.mark.req("CR-25", "CR-29")
def test_words_of_any_text_are_accepted_after_a_round_trip(pair: tuple[str, str]) -> None:
    text, quote = pair
    assume(is_quotable(quote))
    cited = Citation(CitationKind.FILE_QUOTE, "Story/a.md", quote)
    (read,) = parse_sources(render_citation(cited))
    library = Library(files={"Story/a.md": SourceFile("Story/a.md", text, "scene")})
    assert verify(read, library).holds


@given(
    st.lists(
        st.sampled_from(["grey", "green", "eyes", "stone", "gate", "Kael"]), min_size=3, max_size=12
    )
)
def test_a_word_that_is_nowhere_is_never_found(words: list[str]) -> None:
    text = " ".join(words)
    for place in range(len(words)):
        mutated = [*words[:place], "violet", *words[place + 1 :]]
        assert not holds_quote(text, " ".join(mutated))


@given(st.text(max_size=80), st.text(max_size=80))
def test_matching_never_fails(text: str, quote: str) -> None:
    assert holds_quote(text, quote) in (True, False)
