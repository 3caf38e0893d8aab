from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from callboard.core.canonical import compact_json
from callboard.core.errors import InvalidInput
from callboard.replies import Extracted, JsonProblem, extract_json


class Task(BaseModel):
    id: str
    deps: list[str] = []


class Plan(BaseModel):
    tasks: list[Task]


GOOD = '{"tasks": [{"id": "a", "deps": ["b"]}]}'
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"verdict": {"enum": ["PASS", "FAIL"]}, "score": {"type": "integer"}},
    "required": ["verdict"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"Here you go:\n```json\n{GOOD}\n```\nAnything else?",
        f"Sure {{really}}! As in [1]: {GOOD} Bye }}",
        '```\n{"tasks": [{"id": "a", "deps": ["b",],},],}\n```',
        'The plan {"tasks": [{"id": "a", "deps": ["b"],}]} is "ready,]"',
        f"```json\n{GOOD}",
        f"~~~\n{{broken\n~~~\n{GOOD}",
    ],
)
def test_json_is_found_in_whatever_surrounds_it(text: str) -> None:
    found = extract_json(text, Plan)
    assert isinstance(found, Extracted)
    assert found.value == Plan(tasks=[Task(id="a", deps=["b"])])
    assert found.data == {"tasks": [{"id": "a", "deps": ["b"]}]}


def test_commas_inside_strings_are_left_alone() -> None:
    found = extract_json('{"a": "x,]", "b": "\\",}", }')
    assert isinstance(found, Extracted)
    assert found.value == {"a": "x,]", "b": '",}'}


def test_the_first_value_that_fits_wins() -> None:
    found = extract_json('[1] {"score": 1} {"verdict": "PASS"} {"verdict": "FAIL"}', SCHEMA)
    assert isinstance(found, Extracted)
    assert found.value == {"verdict": "PASS"}


def test_a_type_problem_is_precise() -> None:
    problem = extract_json('As in [1]: {"tasks": [{"id": 3}, {"deps": []}]}', Plan)
    assert isinstance(problem, JsonProblem)
    assert problem.code == "invalid"
    assert problem.details == (
        "tasks.0.id: Input should be a valid string",
        "tasks.1.id: Field required",
    )
    assert problem.report.startswith("- tasks.0.id: ")
    assert "tasks" in str(problem.schema)
    assert problem.found == {"tasks": [{"id": 3}, {"deps": []}]}


def test_a_schema_problem_is_precise() -> None:
    problem = extract_json('{"verdict": "MAYBE", "score": "x", "more": 1}', SCHEMA)
    assert isinstance(problem, JsonProblem)
    assert len(problem.details) == 3
    assert "verdict: 'MAYBE' is not one of ['PASS', 'FAIL']" in problem.details
    assert problem.schema == SCHEMA


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("no braces at all", "no_json", "holds no JSON"),
        ('{"verdict": "PASS"', "bad_json", "line 1, column"),
        ("{'verdict': 'PASS'}", "bad_json", "double quotes"),
        ('{"verdict": NaN}', "bad_json", "NaN is not JSON"),
        ("[" * 100_000, "bad_json", "nested too deeply"),
        ("", "no_json", "holds no JSON"),
    ],
)
def test_text_without_usable_json_says_why(text: str, code: str, words: str) -> None:
    problem = extract_json(text, SCHEMA)
    assert isinstance(problem, JsonProblem)
    assert problem.code == code
    assert words in problem.report


def test_a_reference_to_another_address_is_never_fetched() -> None:
    with pytest.raises(InvalidInput, match=r"schemas\.example/x\.json"):
        extract_json("{}", {"$ref": "https://schemas.example/x.json"})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=4))
def test_any_object_survives_prose_and_trailing_commas(value: dict[str, Any]) -> None:
    text = compact_json(value)
    loose = text[:-1] + (",}" if value else "}")
    for wrapped in (text, f"Here: {text} done", f"```json\n{loose}\n```"):
        found = extract_json(wrapped, {"type": "object"})
        assert isinstance(found, Extracted)
        assert found.value == value


@given(st.text(alphabet='{}[]",:\\ntrue1 `~\n', max_size=120))
def test_extraction_never_raises(text: str) -> None:
    assert isinstance(extract_json(text, SCHEMA), Extracted | JsonProblem)
