"""One value has one text and one hash."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.canonical import canonical_json, compact_json, digest, digest_bytes, plain

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_canonical_text_reads_back_as_the_same_value(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value


@given(st.dictionaries(st.text(), json_values, max_size=6))
def test_the_order_of_keys_does_not_change_text_or_hash(value: dict[str, Any]) -> None:
    turned = dict(reversed(list(value.items())))
    assert canonical_json(turned) == canonical_json(value)
    assert digest(turned) == digest(value)


def test_canonical_text_is_small_and_keeps_letters() -> None:
    assert canonical_json({"b": [1, 2], "a": "é"}) == '{"a":"é","b":[1,2]}'
    assert compact_json({"b": 1, "a": 2}) == '{"b":1,"a":2}'


def test_different_values_have_different_hashes() -> None:
    assert len({digest(each) for each in (1, 1.5, "1", True, None, [], {}, [1])}) == 8


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {"a": {1, 2}}, b"x"])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        canonical_json(value)


def test_the_hash_is_plain_sha256() -> None:
    assert digest_bytes(b"x") == hashlib.sha256(b"x").hexdigest()
    assert digest({"a": 1}) == hashlib.sha256(b'{"a":1}').hexdigest()


def test_text_that_is_not_unicode_still_has_a_hash() -> None:
    assert digest("\ud800") != digest("\ud801")


def test_plain_names_what_json_cannot_hold() -> None:
    value = {"path": Path("a/b"), 1: (1, {2}), "bad": float("nan"), "fine": [None, True, 1.5]}
    made = plain(value)
    assert made == {"path": "a/b", "1": [1, [2]], "bad": "nan", "fine": [None, True, 1.5]}
    canonical_json(made)


@given(json_values)
def test_plain_leaves_json_alone(value: Any) -> None:
    assert plain(value) == value
