"""Every kind of artifact has one closed shape."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from callboard.core.errors import NotFound
from callboard.packs.questfoundry.artifacts.catalog import (
    normal_form,
    problems_of,
    schema_of,
    shape_of,
    shapes,
    smallest,
)


@pytest.mark.req("QF-140")
@pytest.mark.parametrize("kind", shapes())
def test_the_smallest_example_fits_its_shape_and_its_schema(kind: str) -> None:
    example = smallest(kind)
    assert problems_of(kind, example) == []
    Draft202012Validator(schema_of(kind)).validate(example)
    whole = normal_form(kind, example)
    assert normal_form(kind, whole) == whole
    Draft202012Validator(schema_of(kind)).validate(whole)


@pytest.mark.req("QF-81", "QF-140")
@pytest.mark.parametrize("kind", shapes())
def test_what_does_not_fit_is_refused_by_shape_and_schema_alike(kind: str) -> None:
    unknown: dict[str, Any] = {**smallest(kind), "surprise": 1}
    (problem,) = problems_of(kind, unknown)
    assert "surprise" in problem["message"]
    check = Draft202012Validator(schema_of(kind))
    assert not check.is_valid(unknown)
    assert problems_of(kind, {**smallest(kind), "x_own": 1}) == []
    assert check.is_valid({**smallest(kind), "x_own": 1})
    field, wrong = next(iter(shape_of(kind).model_fields.items()))[0], object()
    assert problems_of(kind, {**smallest(kind), field: wrong})
    assert problems_of(kind, "no object") and not check.is_valid("no object")


@pytest.mark.req("QF-80")
def test_one_bad_card_is_named_by_its_index_and_field() -> None:
    good = {"title": "A bell", "kind": "scene", "player_safe_summary": "It rings."}
    (problem,) = problems_of("hooks", {"hooks": [good, {**good, "title": ""}]})
    assert problem["path"] == "hooks.1.title"


def test_a_kind_nobody_knows_is_refused_with_those_there_are() -> None:
    with pytest.raises(NotFound) as refused:
        shape_of("limerick")
    assert "limerick" in str(refused.value) and "topology_notes" in (refused.value.fix or "")
