"""Units and amounts: exact where they can be, kept as they are where not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.packs.alfred.kitchen.compute.amounts import (
    canonical_unit,
    convert,
    is_enough,
    is_known_unit,
    kitchen_fraction,
    read_amount,
)

MASS = ["g", "kg", "oz", "lb", "mg"]
VOLUME = ["ml", "l", "tsp", "tbsp", "cup", "fl oz", "pint", "quart", "gallon", "dl"]


@pytest.mark.req("AL-153")
@pytest.mark.parametrize(
    ("said", "unit"),
    [
        ("Cups", "cup"),
        ("tbsp.", "tbsp"),
        ("Tablespoons", "tbsp"),
        ("T", "tbsp"),
        ("t", "tsp"),
        ("LBS", "lb"),
        ("fl. oz.", "fl oz"),
        ("grams", "g"),
        ("litres", "l"),
        ("pieces", None),
        ("", None),
        (None, None),
        ("leaves", "leaf"),
        ("smidgens", "smidgens"),
        ("חופן", "חופן"),
    ],
)
def test_a_unit_has_one_spelling(said: str | None, unit: str | None):
    assert canonical_unit(said) == unit
    assert canonical_unit(unit) == unit


@pytest.mark.req("AL-153")
@pytest.mark.parametrize(
    ("quantity", "source", "target", "density", "wanted"),
    [
        (2, "cups", "ml", None, 473.176473),
        (1, "lb", "oz", None, 16),
        (3, "tsp", "tbsp", None, 1),
        (1, "dozen", None, None, 12),
        (100, "ml", "g", 0.5, 50),
        (50, "g", "ml", 0.5, 100),
        (1, "cup", "g", None, None),
        (1, "clove", None, None, None),
        (1, "can", "g", 1.0, None),
        (3, "smidgens", "g", 1.0, None),
        (3, "smidgens", "smidgen", None, 3),
        (1, "g", "ml", 0, None),
        (1, "g", "ml", float("nan"), None),
    ],
)
def test_quantities_are_converted_or_left_alone(
    quantity: float, source: str, target: str | None, density: float | None, wanted: float | None
):
    found = convert(quantity, source, target, density)
    assert (found is None) == (wanted is None)
    if wanted is not None:
        assert found == pytest.approx(wanted, rel=1e-9)


@pytest.mark.req("AL-153")
@given(
    st.floats(0.001, 10_000),
    st.sampled_from([*MASS, *VOLUME]),
    st.sampled_from([*MASS, *VOLUME]),
    st.none() | st.floats(0.1, 5),
)
def test_there_and_back_is_the_same(quantity: float, one: str, other: str, density: float | None):
    there = convert(quantity, one, other, density)
    is_same_kind = (one in MASS) == (other in MASS)
    assert (there is not None) == (is_same_kind or density is not None)
    if there is not None:
        back = convert(there, other, one, density)
        assert back == pytest.approx(quantity, rel=1e-9)


@pytest.mark.req("AL-153")
def test_a_hair_too_little_is_enough():
    assert is_enough(0.1 + 0.2 - 5e-7, 0.3)
    assert not is_enough(0.29, 0.3)


@given(st.text(max_size=20))
def test_any_text_is_a_unit_without_harm(text: str):
    unit = canonical_unit(text)
    assert canonical_unit(unit) == unit
    assert is_known_unit(None)


@pytest.mark.parametrize(
    ("line", "quantity", "unit", "name"),
    [
        ("400 g spaghetti", 400, "g", "spaghetti"),
        ("2 eggs", 2, None, "eggs"),
        ("1 1/2 cups of flour", 1.5, "cup", "flour"),
        ("1½ cups flour", 1.5, "cup", "flour"),
        ("½ tsp salt", 0.5, "tsp", "salt"),
        ("0,5 l milk", 0.5, "l", "milk"),
        ("3 smidgens salt", 3, None, "smidgens salt"),
        ("salt", None, None, "salt"),
        ("1/0 cup salt", None, None, "1/0 cup salt"),
        ("7", None, None, "7"),
    ],
)
def test_an_amount_is_read(line: str, quantity: float | None, unit: str | None, name: str):
    amount = read_amount(line)
    assert (amount.quantity, amount.unit, amount.name) == (quantity, unit, name)


@pytest.mark.req("AL-150")
@pytest.mark.parametrize(
    ("quantity", "shown"),
    [
        (0.5, "½"),
        (1.333, "1⅓"),
        (2.0, "2"),
        (0.125, "⅛"),
        (3.75, "3¾"),
        (250.0, "250"),
        (0.04, "0.04"),
    ],
)
def test_a_quantity_is_shown_as_a_measuring_cup_has_it(quantity: float, shown: str):
    assert kitchen_fraction(quantity) == shown
