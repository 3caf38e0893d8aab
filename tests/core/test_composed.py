"""Normal forms of Unicode: those of Python, and never slower than the text is long."""

import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.canonical import MOST_MARKS, composed

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")


@pytest.mark.parametrize("form", FORMS)
@given(text=st.text(max_size=30))
def test_a_text_is_composed_as_python_does(form: Form, text: str) -> None:
    assert composed(text, form) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("sign", ["\u2026", "\u2014", "\U0001f36a", "\u3042", "\u200b"])
def test_long_runs_of_signs_stay_whole(sign: str) -> None:
    assert composed(sign * 5_000, "NFC") == unicodedata.normalize("NFC", sign * 5_000)


@pytest.mark.parametrize("form", FORMS)
def test_a_letter_keeps_thirty_marks(form: Form) -> None:
    # In Python alone this takes longer than the time limit of a test.
    text = composed("a" + "\u0301\u0316" * 200_000 + "b", form)
    assert text[0] in "aá" and text[-1] == "b"
    assert len(unicodedata.normalize("NFD", text)) == MOST_MARKS + 2
