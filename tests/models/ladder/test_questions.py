"""A schema taken apart into small questions and put together again."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from callboard.models.ladder.answers import BrokenStructure, answer_schema, read_answer, read_keyed
from callboard.models.ladder.profiles import SchemaShape, shape_of, trials
from callboard.models.ladder.questions import Given, QuestionKind, SmallQuestion, Splitter, assemble


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def kinds(schema: dict[str, Any]) -> dict[str, str]:
    steps = Splitter(schema).split()
    return {step.field: step.kind.value for step in steps if isinstance(step, SmallQuestion)}


def test_each_field_becomes_the_easiest_question() -> None:
    schema = obj(
        name={"type": "string"},
        age={"type": "integer"},
        dead={"type": "boolean"},
        mood={"enum": ["calm", "wild"]},
        tags={"type": "array", "items": {"type": "string"}},
        days={"type": "array", "items": {"enum": ["mo", "tu"]}},
        scenes={"type": "array", "items": obj(title={"type": "string"})},
        home=obj(street={"type": "string"}, land={"const": "DE"}),
        odd={"anyOf": [{"type": "string"}, {"type": "integer"}]},
    )
    assert kinds(schema) == {
        "`name`": "text",
        "`age`": "number",
        "`dead`": "choice",
        "`mood`": "choice",
        "`tags`": "lines",
        "`days`": "picks",
        "`scenes`": "count",
        "`home`, `street`": "text",
        "`odd`": "json",
    }


def test_references_optional_values_and_nulls_are_seen_through() -> None:
    schema: dict[str, Any] = {
        "$defs": {"mood": {"enum": ["calm", "wild"]}, "home": obj(street={"type": "string"})},
        "type": "object",
        "properties": {
            "mood": {"$ref": "#/$defs/mood"},
            "home": {"allOf": [{"$ref": "#/$defs/home"}]},
            "age": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "years"},
            "nick": {"type": ["string", "null"]},
            "note": {"type": "string"},
        },
        "required": ["mood", "home", "age", "nick"],
    }
    steps = {s.field: s for s in Splitter(schema).split() if isinstance(s, SmallQuestion)}
    assert set(steps) == {"`mood`", "`home`, `street`", "`age`", "`nick`"}
    assert steps["`age`"].about == "years"
    assert read_answer(steps["`age`"], "none.") is None
    assert read_answer(steps["`age`"], "41") == 41
    assert read_answer(steps["`nick`"], "Bo") == "Bo"
    del schema["required"]
    assert kinds(schema).keys() > steps.keys(), "nothing is required: everything is asked"


def test_a_list_of_objects_is_counted_first() -> None:
    schema = obj(
        scenes={"type": "array", "minItems": 1, "maxItems": 2, "items": obj(n={"type": "integer"})}
    )
    splitter = Splitter(schema)
    start, count = splitter.split()
    assert isinstance(start, Given)
    assert isinstance(count, SmallQuestion)
    assert read_answer(count, "2") == 2
    with pytest.raises(BrokenStructure):
        read_answer(count, "3")
    items = list(splitter.split_items(count, 2))
    asked = [step.field for step in items if isinstance(step, SmallQuestion)]
    assert asked == ["`scenes`, number 1, `n`", "`scenes`, number 2, `n`"]
    parts = [start, *(s if isinstance(s, Given) else Given(s.place, 7) for s in items)]
    assert assemble(parts) == {"scenes": [{"n": 7}, {"n": 7}]}
    assert assemble(parts) == assemble(parts)


def question(schema: dict[str, Any]) -> SmallQuestion:
    (step,) = Splitter(schema).split()
    assert isinstance(step, SmallQuestion)
    return step


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"enum": ["calm", "wild"]}, "2", "wild"),
        ({"enum": ["calm", "wild"]}, "Number 2.", "wild"),
        ({"enum": ["calm", "wild"]}, "Calm.", "calm"),
        ({"enum": [10, 20]}, "2", 20),
        ({"type": "boolean"}, "Yes.", True),
        ({"type": "integer"}, "about 1,200", 1200),
        ({"type": "number"}, "-2.5", -2.5),
        ({"type": "integer"}, "3.0", 3),
        ({"type": "string"}, '"Kael"', "Kael"),
        ({"type": "string"}, "```\nKael\n```", "Kael"),
        ({"type": "array", "items": {"type": "string"}}, "- a\n2. b\n\n* c", ["a", "b", "c"]),
        ({"type": "array", "items": {"type": "integer"}}, "1\n2", [1, 2]),
        ({"type": "array", "items": {"type": "boolean"}}, "yes\nno", [True, False]),
        ({"type": "array", "items": {"type": "string"}}, "none", []),
        ({"type": "array", "items": {"enum": ["x", "y", "z"]}}, "3, 1 and 3", ["z", "x"]),
        ({"type": "array", "items": {"enum": ["x", "y", "z"]}}, "none", []),
        ({"type": "object"}, 'well: {"a": 1}', {"a": 1}),
    ],
)
def test_an_answer_is_read_in_its_dress(schema: dict[str, Any], text: str, value: Any) -> None:
    assert read_answer(question(schema), text) == value


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"enum": ["calm", "wild"]}, "1 or 2"),
        ({"enum": ["calm", "wild"]}, "3"),
        ({"enum": ["calm", "wild"]}, ""),
        ({"type": "integer"}, "2 or 3"),
        ({"type": "integer"}, "2.5"),
        ({"type": "integer", "maximum": 5}, "6"),
        ({"type": "integer"}, "many"),
        ({"type": "string"}, "  "),
        ({"type": "string", "maxLength": 3}, "Kael"),
        ({"type": "array", "items": {"type": "string"}, "maxItems": 1}, "a\nb"),
        ({"type": "array", "items": {"type": "boolean"}}, "perhaps"),
        ({"type": "array", "items": {"enum": ["x", "y"]}}, "9"),
        ({"type": "integer"}, "9" * 5000),
        ({"type": "object"}, "no"),
    ],
)
def test_an_answer_that_could_mean_two_things_is_none(schema: dict[str, Any], text: str) -> None:
    with pytest.raises(BrokenStructure):
        read_answer(question(schema), text)


@given(st.text(), st.sampled_from([{"enum": ["a", 1]}, {"type": "integer"}, {"type": "string"}]))
def test_any_text_is_a_valid_value_or_a_named_problem(text: str, schema: dict[str, Any]) -> None:
    try:
        value = read_answer(question(schema), text)
    except BrokenStructure:
        return
    assert Draft202012Validator(schema).is_valid(value)


leaves = st.sampled_from(
    [
        {"type": "string", "minLength": 1},
        {"type": "integer", "minimum": 1, "maximum": 3},
        {"type": "boolean"},
        {"enum": ["x", "y", 3]},
        {"const": "fixed"},
        {"type": "null"},
        {"type": ["integer", "null"]},
        {"type": "array", "items": {"type": "string"}},
        {"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 1},
    ]
)
schemas = st.recursive(
    leaves,
    lambda inner: (
        st.dictionaries(st.sampled_from("abcd"), inner, min_size=1, max_size=3).map(
            lambda properties: obj(**properties)
        )
        | st.dictionaries(st.sampled_from("abcd"), inner, min_size=1, max_size=2).map(
            lambda properties: {"type": "array", "items": obj(**properties), "minItems": 1}
        )
    ),
    max_leaves=6,
)


@given(schemas, st.data())
def test_whatever_is_answered_well_assembles_to_a_valid_whole(
    schema: dict[str, Any], data: st.DataObject
) -> None:
    splitter = Splitter(schema)
    pending, parts = list(splitter.split()), list[Given]()
    while pending:
        step = pending.pop(0)
        if isinstance(step, Given):
            parts.append(step)
            continue
        keyed = {"answer": _plausible(answer_schema(step)["properties"]["answer"], data)}
        value = read_keyed(step, json.dumps(keyed))
        if step.kind is QuestionKind.COUNT:
            pending = [*splitter.split_items(step, value), *pending]
        else:
            parts.append(Given(step.place, value))
    assert Draft202012Validator(schema).is_valid(assemble(parts))


def _plausible(schema: dict[str, Any], data: st.DataObject) -> Any:
    if "anyOf" in schema:
        return _plausible(data.draw(st.sampled_from(schema["anyOf"])), data)
    if "enum" in schema:
        return data.draw(st.sampled_from(schema["enum"]))
    match schema["type"]:
        case "null":
            return None
        case "integer":
            return data.draw(st.integers(schema.get("minimum", 0), schema.get("maximum", 3)))
        case "array":
            least = schema.get("minItems", 0)
            return [_plausible(schema["items"], data) for _ in range(least)]
        case _:
            return "text"


def test_shapes_are_told_apart() -> None:
    assert shape_of({"enum": [1, 2]}) is SchemaShape.CHOICE
    assert shape_of(obj(a={"type": "boolean"}, b={"enum": ["x", "y"]})) is SchemaShape.CHOICE
    assert shape_of(obj(a={"type": "boolean"}, b={"type": "string"})) is SchemaShape.FLAT
    assert shape_of(obj(a={"type": "array", "items": {"type": "string"}})) is SchemaShape.LIST
    assert shape_of(obj(a=obj(b={"type": "string"}))) is SchemaShape.NESTED
    assert shape_of(obj(a={"type": "array", "items": obj(b={})})) is SchemaShape.NESTED
    assert shape_of({}) is SchemaShape.NESTED


def test_every_trial_has_the_shape_it_stands_for() -> None:
    assert {trial.shape for trial in trials()} == set(SchemaShape)
    for trial in trials():
        Draft202012Validator.check_schema(dict(trial.schema))
        assert shape_of(trial.schema) is trial.shape
        assert trial.question(0) != trial.question(1)
        assert "{{" not in trial.question(0)
