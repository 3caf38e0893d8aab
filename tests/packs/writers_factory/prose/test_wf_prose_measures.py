"""Stylometry: the figures are right, the distance is one, and writers are told apart."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.packs.writers_factory.prose import Stylometrics, distance, measure

TERSE = (
    "I ran. The door was shut. I hit it twice and waited. “Open,” I said. Nobody came. "
    "My hand hurt. I looked at the street, and it was empty, and I sat down on my own step."
)
LONG = (
    "When the evening came slowly over the valley, she walked, as she had walked for years, along "
    "the river that ran like a ribbon of dull pewter between the sleeping fields, and thought "
    "about what her mother had once told her of the sea."
)


@pytest.mark.req("WF-G64", "WF-G76")
def test_the_figures_of_a_passage() -> None:
    told = measure(TERSE)
    assert (told.pov, told.tense) == ("first", "past")
    assert told.sentences == 7
    assert told.mean_sentence_words == pytest.approx(37 / 7, abs=0.01)
    assert told.sd_sentence_words > 3
    assert told.dialogue_share == pytest.approx(1 / 37, abs=0.001)
    assert (told.adverbs_per_1000, told.similes_per_1000) == (0, 0)
    other = measure(LONG)
    assert other.pov == "third"
    assert other.adverbs_per_1000 == pytest.approx(1000 / other.words, abs=0.1)
    assert other.similes_per_1000 == pytest.approx(1000 / other.words, abs=0.1)


def test_nothing_can_be_measured_too() -> None:
    assert measure("") == Stylometrics()
    assert distance(measure(""), measure(TERSE)) > 0


@pytest.mark.req("WF-G76")
@given(st.text(max_size=200), st.text(max_size=200))
def test_the_distance_is_symmetric_between_0_and_1_and_0_to_itself(a: str, b: str) -> None:
    one, other = measure(a), measure(b)
    apart = distance(one, other)
    assert 0 <= apart <= 1
    assert apart == distance(other, one)
    assert distance(one, one) == 0
    assert distance(Stylometrics.from_json(one.to_json()), other) == apart


@pytest.mark.req("WF-G76")
def test_two_voices_are_further_apart_than_one_from_itself() -> None:
    again = TERSE.replace("street", "square").replace("door", "gate")
    assert distance(measure(TERSE), measure(again)) < 0.05
    assert distance(measure(TERSE), measure(LONG)) > 0.5


@pytest.mark.req("WF-G76")
def test_a_scene_is_nearer_to_its_own_book(tmp_path: Path) -> None:
    plain = "\n\n".join(f"{TERSE} Number {n} was the next house." for n in range(8))
    ornate = "\n\n".join(f"{LONG} It was the evening number {n}." for n in range(8))
    middle = measure(plain[: len(plain) // 2])
    assert distance(middle, measure(plain)) < 0.5 * distance(middle, measure(ornate))
