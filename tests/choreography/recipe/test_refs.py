"""References: strict syntax, typed resolution, errors that name the path and the segment."""

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.choreography.recipe import RefResolutionError, RefSyntaxError
from callboard.choreography.recipe.definition import follow, parse_ref, resolve
from callboard.choreography.recipe.definition.refs import find_refs

ROOTS: dict[str, Any] = {
    "task": {"description": "Draft scene 5", "args": {"scene_path": "a.md"}},
    "discovery": {"matches": [{"path": "x.md"}], "empty": [], "nothing": None},
    "outline_beat": {"scenes": [{"title": "a"}, {"title": "b"}, {"title": "c"}]},
    "canon_context": {"conflicts": []},
}


@pytest.mark.req("CR-105", "CR-101", "CR-102", "CR-106")
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("task.description", "Draft scene 5"),
        ("task.args.scene_path", "a.md"),
        ("discovery.matches[0].path", "x.md"),
        ("outline_beat.scenes[2].title", "c"),
        ("canon_context.conflicts", []),
    ],
)
def test_documented_examples_resolve(path: str, value: Any) -> None:
    assert follow(parse_ref(path), ROOTS) == value


@pytest.mark.req("CR-103")
@pytest.mark.parametrize(
    ("path", "segment"),
    [
        ("discovery.matches[99].path", "matches[99]"),
        ("discovery.nothing", "nothing"),
        ("discovery.nothing.more", "nothing"),
        ("discovery.absent.more", "absent"),
        ("nowhere.more", "nowhere"),
        ("task.description.length", "length"),
        ("discovery.matches.path", "path"),
        ("outline_beat[0]", "outline_beat[0]"),
    ],
)
def test_a_broken_ref_names_the_path_and_the_segment(path: str, segment: str) -> None:
    with pytest.raises(RefResolutionError) as caught:
        follow(parse_ref(path), ROOTS)
    assert (caught.value.path, caught.value.segment) == (path, segment)
    assert path in caught.value.message
    assert segment in caught.value.message


@pytest.mark.req("CR-104")
@pytest.mark.parametrize(
    "path",
    [
        "", ".", "a..b", "a.", ".a", "a[*]", "a[-1]", "a[01]", "a[?(@.x)]", "$.a", "a.*", "a[1:2]",
        "a['b']", "a b", "a+b", "a.b()", "a[0", "a]0[", "1a", "a[999999999999]",
    ],
)  # fmt: skip
def test_anything_like_an_expression_is_refused(path: str) -> None:
    with pytest.raises(RefSyntaxError):
        parse_ref(path)


@pytest.mark.req("CR-100")
def test_refs_are_replaced_wherever_they_stand_and_types_are_kept() -> None:
    given = {
        "literal": 3,
        "text": "task.description",
        "deep": [{"x": {"$ref": "discovery.matches"}}, {"$ref": "canon_context.conflicts"}],
    }
    assert resolve(given, ROOTS) == {
        "literal": 3,
        "text": "task.description",
        "deep": [{"x": [{"path": "x.md"}]}, []],
    }


def test_a_ref_object_holds_nothing_else() -> None:
    with pytest.raises(RefSyntaxError):
        resolve({"$ref": "task.description", "default": 1}, ROOTS)


names = st.text(string.ascii_letters + "_", min_size=1, max_size=4)
leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
trees = st.dictionaries(
    names,
    st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
        max_leaves=12,
    ),
    min_size=1,
    max_size=4,
)


def places(value: Any, path: str) -> list[tuple[str, Any]]:
    """Walk a tree naively and return every path in it with its value."""
    found = [(path, value)]
    if isinstance(value, dict):
        for key, each in value.items():
            found += places(each, f"{path}.{key}" if path else key)
    if isinstance(value, list) and path:
        for number, each in enumerate(value):
            found += places(each, f"{path}[{number}]")
    return found


@pytest.mark.req("CR-100", "CR-101", "CR-103")
@given(trees, st.data())
def test_resolver_agrees_with_a_naive_walker(tree: dict[str, Any], data: st.DataObject) -> None:
    path, value = data.draw(st.sampled_from([each for each in places(tree, "") if each[0]]))
    if value is None:
        with pytest.raises(RefResolutionError) as caught:
            follow(parse_ref(path), tree)
        assert caught.value.segment == path.rpartition(".")[2]
    else:
        assert follow(parse_ref(path), tree) == value


@given(st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(names, inner)))
def test_literals_pass_unchanged(value: Any) -> None:
    assert resolve(value, {}) == value
    assert list(find_refs(value)) == []


@given(st.text(max_size=30))
def test_reading_a_ref_never_crashes(text: str) -> None:
    try:
        ref = parse_ref(text)
    except RefSyntaxError:
        return
    assert ".".join(segment.text for segment in ref.segments) == text
