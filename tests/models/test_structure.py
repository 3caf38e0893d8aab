"""Finding and judging JSON in replies; tightening schemas for small models."""

import json
import re
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from callboard.core.errors import InvalidInput
from callboard.models.ladder.answers import BrokenStructure, parse_structured
from callboard.models.providers.local import bounded

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.text())
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        parse_structured(text, {})
    except BrokenStructure as broken:
        assert str(broken)


@given(json_values, st.text(string.ascii_letters + " .,\n"))
def test_json_in_a_fence_is_found_whole(value: Any, prose: str) -> None:
    text = f"{prose}\n```json\n{json.dumps(value, indent=1)}\n```\n{prose}"
    if "`" not in json.dumps(value):
        assert parse_structured(text, {}) == value


@given(st.dictionaries(st.text(), json_values, max_size=4), st.text(string.ascii_letters + " .,"))
def test_an_object_in_prose_is_found_whole(value: dict[str, Any], prose: str) -> None:
    assert parse_structured(f"{prose}: {json.dumps(value)} {prose}", {}) == value


@pytest.mark.parametrize("text", ['{"outer": {"n": 3}', '{"n": 1, "m": [2', '{"x": NaN, "y": [1]}'])
def test_a_piece_of_broken_json_is_not_the_answer(text: str) -> None:
    with pytest.raises(BrokenStructure, match="no JSON"):
        parse_structured(text, {})


@pytest.mark.parametrize("text", ["[" * 100_000, "{" * 100_000, '{"a":' * 50_000])
def test_deep_nesting_is_refused_not_fatal(text: str) -> None:
    with pytest.raises(BrokenStructure):
        parse_structured(text, {})


def test_a_violation_names_the_place() -> None:
    schema = {"properties": {"scenes": {"items": {"type": "string"}}}}
    with pytest.raises(BrokenStructure, match="scenes/1"):
        parse_structured('{"scenes": ["a", 2]}', schema)


@pytest.mark.parametrize("ref", ["#/$defs/gone", "https://example.org/schema.json"])
def test_a_reference_to_nowhere_is_refused_without_looking_for_it(ref: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(ref.lstrip("#"))):
        parse_structured("{}", {"$ref": ref})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


schemas = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "string", "minLength": 2},
            {"type": "string", "maxLength": 9},
            {"type": ["string", "null"]},
            {"type": "integer"},
            {"enum": ["a", 1]},
            {"const": "type"},
        ]
    ),
    lambda inner: (
        st.builds(lambda each: {"type": "array", "items": each}, inner)
        | st.builds(lambda each: {"type": "array", "items": each, "minItems": 9}, inner)
        | st.builds(_object, st.dictionaries(st.sampled_from(["type", "items", "x"]), inner))
        | st.builds(lambda each: {"anyOf": [each, {"type": "null"}]}, inner)
    ),
    max_leaves=5,
)
schemas = schemas | st.builds(lambda each: {"$ref": "#/$defs/a", "$defs": {"a": each}}, schemas)


@given(schemas, json_values)
def test_what_the_tightened_schema_allows_the_original_allows(
    schema: dict[str, Any], value: Any
) -> None:
    tight = bounded(schema)
    Draft202012Validator.check_schema(tight)
    if Draft202012Validator(tight).is_valid(value):
        assert Draft202012Validator(schema).is_valid(value)


@given(schemas)
def test_tightening_twice_changes_nothing_more_and_never_the_original(
    schema: dict[str, Any],
) -> None:
    before = json.dumps(schema)
    assert bounded(bounded(schema)) == bounded(schema)
    assert json.dumps(schema) == before


def test_strings_and_lists_get_an_end_and_objects_a_border() -> None:
    schema = _object({"note": {"type": "string"}, "tags": {"type": "array", "items": {}}})
    tight = bounded(schema)
    assert tight["properties"]["note"]["maxLength"] > 0
    assert tight["properties"]["tags"]["maxItems"] > 0
    assert tight["additionalProperties"] is False


@pytest.mark.parametrize(
    "more",
    [
        {"required": ["elsewhere"]},
        {"allOf": [{"properties": {"b": {}}, "required": ["b"]}]},
        {"patternProperties": {"^x": {}}},
        {"additionalProperties": {"type": "string"}},
    ],
)
def test_an_object_that_needs_other_properties_stays_open(more: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"a": {}}, **more}
    assert bounded(schema).get("additionalProperties") == more.get("additionalProperties")
