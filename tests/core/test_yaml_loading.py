"""YAML read by libyaml: the same values as the other parser gives, and that one's words."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.bundled import bundled_yaml
from callboard.core.parsing import FileProblem, load_yaml, parse_yaml

# Without the line breaks that only YAML 1.1 knows: within quotes the parsers fold them differently.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x85\u2028\u2029"))
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda held: st.lists(held) | st.dictionaries(TEXT, held),
    max_leaves=20,
)
WRONG = [
    "a: [1, 2",
    "a: b: c",
    "a: 'open",
    "- a\nb: 1",
    "a: !thing 1",
    "\tkey: 1",
    "a: *gone",
    "\0",
]


@given(PLAIN, st.booleans())
def test_values_are_what_the_other_parser_reads(value: Any, flow: bool) -> None:
    text = yaml.safe_dump(value, default_flow_style=flow, allow_unicode=True)
    assert load_yaml(text) == yaml.safe_load(text) == value


# Without the bare tag "!": it means a text, and only libyaml knows.
@given(st.text(alphabet="ab:-[]{}'\"#&*|>%? \n\t0", max_size=40))
def test_whatever_the_other_parser_reads_is_read_as_well(text: str) -> None:
    try:
        expected = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError):
        return
    assert load_yaml(text) == expected


@pytest.mark.parametrize("text", WRONG)
def test_mistakes_are_told_in_the_words_people_know(text: str) -> None:
    with pytest.raises(yaml.YAMLError) as expected:
        yaml.safe_load(text)
    with pytest.raises(yaml.YAMLError) as told:
        load_yaml(text)
    assert str(told.value) == str(expected.value)


def test_a_mistake_keeps_its_line() -> None:
    with pytest.raises(FileProblem) as told:
        parse_yaml("a: 1\nb: [1\nc: 2\n")
    assert told.value.line == 3


def test_a_lone_surrogate_is_refused_as_yaml() -> None:
    with pytest.raises(yaml.YAMLError):
        load_yaml("a: \ud800")


def test_a_bundled_file_is_read_once() -> None:
    read = bundled_yaml("callboard.models", "catalog.yaml")
    assert read
    assert bundled_yaml("callboard.models", "catalog.yaml") is read
