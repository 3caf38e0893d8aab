"""Layers merge deeply, the higher one wins, and every key knows who set it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.settings import LayerName, SettingsLayer, merge, resolve

names = st.sampled_from(["a", "b", "c"])
trees = st.dictionaries(
    names,
    st.recursive(
        st.integers() | st.lists(st.integers(), max_size=2),
        lambda inner: st.dictionaries(names, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=3,
)


@pytest.mark.req("TOOL-76")
def test_mappings_merge_and_everything_else_is_replaced() -> None:
    lower = {"a": {"x": 1, "y": {"p": 1}}, "b": [1, 2], "c": {"k": 1}, "d": 1}
    higher = {"a": {"y": {"q": 2}}, "b": [3], "c": 5, "d": {"k": 1}}
    assert merge(lower, higher) == {
        "a": {"x": 1, "y": {"p": 1, "q": 2}},
        "b": [3],
        "c": 5,
        "d": {"k": 1},
    }


@pytest.mark.req("TOOL-76")
@given(trees, trees)
def test_the_higher_layer_is_whole_in_the_merged_one(lower: Any, higher: Any) -> None:
    assert merge(merge(lower, higher), higher) == merge(lower, higher)
    assert merge({}, higher) == higher
    assert merge(lower, {}) == lower


@given(trees, trees)
def test_merging_changes_neither_layer(lower: Any, higher: Any) -> None:
    before = repr((lower, higher))
    merge(lower, higher)
    assert repr((lower, higher)) == before


def level_in(name: LayerName, value: str) -> SettingsLayer:
    return SettingsLayer(name, f"{name}.yaml", {"log": {"level": value}})


@pytest.mark.req("TOOL-75")
def test_each_layer_wins_over_the_ones_before_it() -> None:
    ladder = [
        (LayerName.PROJECT, "debug"),
        (LayerName.USER, "warn"),
        (LayerName.LOCAL, "error"),
        (LayerName.ENVIRONMENT, "debug"),
        (LayerName.FLAGS, "warn"),
    ]
    assert resolve([]).settings.log.level == "info"
    for count in range(1, len(ladder) + 1):
        layers = [level_in(name, value) for name, value in ladder[:count]]
        loaded = resolve(reversed(layers))
        name, value = ladder[count - 1]
        assert loaded.settings.log.level == value
        assert loaded.origins["log.level"].layer is name
        assert loaded.origins["log.level"].source == f"{name}.yaml"


def test_every_key_knows_the_layer_that_set_it() -> None:
    loaded = resolve(
        [
            SettingsLayer(
                LayerName.PROJECT, "p.yaml", {"models": {"default": "a:b", "timeout_seconds": 5}}
            ),
            SettingsLayer(LayerName.USER, "u.yaml", {"models": {"timeout_seconds": 6}}),
            SettingsLayer(LayerName.LOCAL, "l.yaml", {"errors": {"rate_limit_statuses": [420]}}),
        ]
    )
    layers = {key: origin.layer for key, origin in loaded.origins.items()}
    assert layers.pop("models.default") is LayerName.PROJECT
    assert layers.pop("models.timeout_seconds") is LayerName.USER
    assert layers.pop("errors.rate_limit_statuses") is LayerName.LOCAL
    assert set(layers.values()) == {LayerName.DEFAULTS}
    assert loaded.settings.errors.rate_limit_statuses == (420,)
