"""Schemas and values that are nested without end are refused like any others."""

from typing import Any

import pytest

from callboard.core.errors import InvalidInput
from callboard.core.schemas import check_schema, violations

TREE = {"type": "array", "items": {"$ref": "#"}}


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("levels", [300, 600, 900, 5_000, 100_000])
def test_a_schema_nested_without_end_is_refused(levels: int) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    with pytest.raises(InvalidInput, match="nested too deeply"):
        check_schema(schema)


@pytest.mark.parametrize("levels", [600, 900, 5_000])
def test_a_value_nested_without_end_breaks_its_schema(levels: int) -> None:
    assert list(violations(nested(20), TREE)) == []
    (found,) = violations(nested(levels), TREE)
    assert "nested too deeply" in found.message
