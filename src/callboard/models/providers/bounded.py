"""Tighten a JSON schema so that a small model always comes to an end.

Every value the tightened schema allows, the original allows too. A tiny model caught in a loop
would otherwise fill an unlimited string or list until its token limit cuts the JSON in two.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

_MAX_TEXT_CHARS: Final = 400
_MAX_ITEMS: Final = 6
_MAPS_OF_SCHEMAS: Final = ("properties", "$defs", "definitions")
_LISTS_OF_SCHEMAS: Final = ("anyOf", "oneOf", "prefixItems")
_SCHEMAS: Final = ("items",)
_OTHER_PROPERTY_RULES: Final = (
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "dependentRequired",
    "dependentSchemas",
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "not",
)
_TEXT_RULES: Final = ("maxLength", "pattern", "format", "enum", "const")


def bounded(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with an upper limit on every string and list that has none."""
    result: dict[str, Any] = {key: _descend(key, value) for key, value in schema.items()}
    kinds = result.get("type")
    names = cast("list[str]", kinds) if isinstance(kinds, list) else [kinds]
    if "string" in names and not any(rule in result for rule in _TEXT_RULES):
        result["maxLength"] = max(_MAX_TEXT_CHARS, int(result.get("minLength", 0)))
    if "array" in names and "maxItems" not in result:
        known = len(result.get("prefixItems", ()))
        result["maxItems"] = max(_MAX_ITEMS, known, int(result.get("minItems", 0)))
    if "object" in names and _is_closable(result):
        result["additionalProperties"] = False
    return result


def _is_closable(schema: Mapping[str, Any]) -> bool:
    """Say whether the listed properties are all an object can ever need."""
    named = schema.get("properties", {})
    is_listed = bool(named) and all(name in named for name in schema.get("required", ()))
    return is_listed and not any(rule in schema for rule in _OTHER_PROPERTY_RULES)


def _descend(key: str, value: Any) -> Any:
    if key in _MAPS_OF_SCHEMAS and isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", value)
        return {name: _bounded_if_schema(each) for name, each in named.items()}
    if key in _LISTS_OF_SCHEMAS and isinstance(value, list):
        return [_bounded_if_schema(each) for each in cast("list[Any]", value)]
    return _bounded_if_schema(value) if key in _SCHEMAS else value


def _bounded_if_schema(value: Any) -> Any:
    return bounded(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else value
