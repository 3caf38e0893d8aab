"""The codec: dataclasses as JSON and back, by their types."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from callboard.core.codec import Coded, decode, encode


class Colour(StrEnum):
    """An enumeration."""

    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Part:
    """A value within a value."""

    name: str
    colour: Colour = Colour.RED


@dataclass(frozen=True, slots=True)
class Whole(Coded):
    """A value with all that the stored shapes hold."""

    KEYS: ClassVar = {"at": "ts"}

    id: str
    at: int
    parts: tuple[Part, ...] = ()
    score: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


PARTS = st.builds(Part, st.text(), st.sampled_from(Colour))
WHOLES = st.builds(
    Whole,
    st.text(),
    st.integers(-(2**53), 2**53),
    st.lists(PARTS, max_size=3).map(tuple),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.dictionaries(st.text(), st.none() | st.booleans() | st.text() | st.integers()),
)


@given(WHOLES)
def test_a_value_comes_back_from_json_text_as_it_was(whole: Whole) -> None:
    assert Whole.from_json(json.loads(json.dumps(whole.to_json()))) == whole


def test_the_shape_is_plain_json_under_the_names_the_class_gives() -> None:
    whole = Whole("w", 5, (Part("p", Colour.BLUE),), extra={"of": ("a", Colour.RED)})
    assert whole.to_json() == {
        "id": "w",
        "ts": 5,
        "parts": [{"name": "p", "colour": "blue"}],
        "score": None,
        "extra": {"of": ["a", "red"]},
    }


def test_half_a_surrogate_pair_passes_both_ways() -> None:
    assert decode(Part, encode(Part("\ud83d"))) == Part("\ud83d")


def test_keys_nobody_knows_are_left_out_and_missing_ones_take_their_default() -> None:
    assert decode(Part, {"name": "p", "since": "long ago"}) == Part("p")


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValidationError, match="colour"):
        decode(Part, {"name": "p", "colour": "loud"})
