"""One form for a word and its plural."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.knowledge.entities.matching import singular


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("eggs", "egg"),
        ("tomatoes", "tomato"),
        ("potatoes", "potato"),
        ("berries", "berry"),
        ("cookies", "cookie"),
        ("dishes", "dish"),
        ("radishes", "radish"),
        ("cheeses", "cheese"),
        ("sauces", "sauce"),
        ("quiches", "quiche"),
        ("boxes", "box"),
        ("leaves", "leaf"),
        ("loaves", "loaf"),
        ("kiwis", "kiwi"),
        ("curries", "curry"),
        ("oranges", "orange"),
        ("toes", "toe"),
        ("glasses", "glass"),
        ("olives", "olive"),
    ],
)
def test_plurals(plural: str, one: str):
    assert singular(plural) == one
    assert singular(one) == one


@pytest.mark.parametrize(
    "word", ["asparagus", "couscous", "hummus", "molasses", "swiss", "bass", "gas", "מלפפון", "su"]
)
def test_what_is_no_plural_stays(word: str):
    assert singular(word) == word


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12))
def test_asking_twice_changes_nothing_that_is_one_already(word: str):
    one = singular(word)
    assert one
    assert len(one) <= len(word) + 1
