"""Forms: what a small model may answer, and what becomes of it."""

import json
import re

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.choreography.small_models.forms import (
    Form,
    as_options,
    as_sentence,
    form_of,
    items_of,
)

BEAT = "Ines rings the long bell and the first boat answers from the fog."


def short(_word: str) -> int:
    return 1


def test_a_list_above_the_form_is_what_can_be_picked() -> None:
    form = form_of("- not this\n\nWhich?\n\n- Nobody speaks.\n- It is late.\n\n> What stays: “…”")
    assert form == Form("What stays: “", "”", ("Nobody speaks.", "It is late."))
    schema = form.schema("")
    jsonschema.validate({"choice": "It is late."}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"choice": "It is early."}, schema)
    chosen = form.chosen({"data": {"choice": "It is late."}})
    assert form.filled(chosen, "", short) == "What stays: “It is late.”"


@pytest.mark.parametrize("text", ["No form.", "> no gap", "> a … form\n\nthat does not end it"])
def test_what_has_no_form(text: str) -> None:
    assert form_of(text) is None


def test_a_sentence_is_finished_in_lower_case_words_and_known_names() -> None:
    form = form_of(f"{BEAT}\n\nFinish it.\n\n> They can hear …")
    assert form is not None
    pattern = form.schema(BEAT)["properties"]["line"]["pattern"]
    assert re.search(pattern, "They can hear Ines and the sea.")
    assert not re.search(pattern, "They can hear Napoleon and the sea.")
    assert not re.search(pattern, "They can hear it.")
    assert form.filled("They can hear Ines and the sea,", BEAT, short) == (
        "They can hear Ines and the sea."
    )
    assert form.filled("They can hear the wind and the,", BEAT, short) == "They can hear the wind."


@pytest.mark.parametrize(
    "line",
    [
        "They can hear them that they can hear it.",
        "They can hear the sentence of the story.",
        "They can hear.",
        "They can hear a b c d e f g h i wind and sea and more of it.",
    ],
)
def test_a_sentence_that_cannot_stand_is_left_out(line: str) -> None:
    form = Form("They can hear ", "")
    assert form.filled(line, BEAT, short) == ""


def test_words_that_fall_to_pieces_are_no_words_unless_somebody_wrote_them() -> None:
    form = Form("They can hear ", "")
    many = {"pendulum": 5}
    line = "They can hear the pendulum."
    assert form.filled(line, BEAT, lambda word: many.get(word, 1)) == ""
    assert form.filled(line, "the pendulum", lambda word: many.get(word, 1)) == line


def test_an_option_is_offered_once_while_there_are_others() -> None:
    form = Form("", "", ("a", "b"))
    assert form.without({"a"}).options == ("b",)
    assert form.without({"a", "b"}).options == ("a", "b")


def test_lines_are_items_or_sentences() -> None:
    assert items_of("Intro\n- one\n- two\n- one") == ("one", "two")
    assert items_of('He said, "Go." She went!\n\nThen nothing…') == (
        'He said, "Go."',
        "She went!",
        "Then nothing…",
    )
    assert as_options("- one") == "- one"
    assert len(as_options("\n".join(f"- {n} x" for n in range(40))).splitlines()) == 10


def test_a_line_becomes_a_sentence() -> None:
    assert as_sentence("the town gathers") == "The town gathers."
    assert as_sentence("Who?") == "Who?"
    assert as_sentence(" ") == ""


@given(st.text(max_size=300))
def test_no_text_breaks_a_form(text: str) -> None:
    form = form_of(f"{text}\n> x …")
    if form is not None:
        json.dumps(form.schema(text))
        form.filled("x anything at all.", text, short)
    items_of(text)
    as_options(text)
