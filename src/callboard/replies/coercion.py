"""Bring the text values of an action to the types its JSON schema asks for. Guesses nothing."""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.replies.json_text import read_json
from callboard.replies.parameters import read_object

_TRUE: Final = frozenset({"true", "yes", "on", "1"})
_FALSE: Final = frozenset({"false", "no", "off", "0"})
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?(?:[eE][+-]?[0-9]{1,3})?")
_BULLET: Final = re.compile(r"^\s*(?:[-*•]|[0-9]{1,3}[.)])\s+")


def coerce(
    content: Mapping[str, Json], schema: Mapping[str, Any]
) -> tuple[dict[str, Json], list[str]]:
    """Return the values in the types of an object schema, and what could not be brought there."""
    problems: list[str] = []
    return _object(content, schema, "", problems), problems


def _object(
    content: Mapping[str, Json], schema: Mapping[str, Any], path: str, problems: list[str]
) -> dict[str, Json]:
    properties: Mapping[str, Any] = schema.get("properties") or {}
    return {
        key: _value(value, properties.get(key) or {}, f"{path}{key}", problems)
        for key, value in content.items()
    }


def _value(value: Json, schema: Mapping[str, Any], path: str, problems: list[str]) -> Json:
    kind = _kind(schema)
    if kind == "array":
        return _array(value, schema, path, problems)
    if kind == "object":
        return _nested(value, schema, path, problems)
    if not isinstance(value, str) or kind not in ("integer", "number", "boolean"):
        return value
    coerced = _scalar(value.strip(), kind)
    if coerced is None:
        problems.append(f"{path}: {value[:60]!r} is not a {kind}")
        return value
    return coerced


def _kind(schema: Mapping[str, Any]) -> str | None:
    kind = schema.get("type")
    if isinstance(kind, list):
        named = [each for each in cast("list[Any]", kind) if each != "null"]
        kind = named[0] if len(named) == 1 else None
    return kind if isinstance(kind, str) else None


def _scalar(text: str, kind: str) -> Json:
    if kind == "boolean":
        word = text.lower()
        return True if word in _TRUE else (False if word in _FALSE else None)
    if kind == "integer":
        return int(text) if _INTEGER.fullmatch(text) else None
    return float(text) if _NUMBER.fullmatch(text) else None


def _array(value: Json, schema: Mapping[str, Any], path: str, problems: list[str]) -> Json:
    items: Mapping[str, Any] = schema.get("items") or {}
    if isinstance(value, str):
        listed: list[Json] = list(_split(value))
    elif isinstance(value, list):
        listed = cast("list[Json]", value)
    else:
        listed = _only_list_inside(value)
    return [_value(each, items, f"{path}[{index}]", problems) for index, each in enumerate(listed)]


def _only_list_inside(value: Json) -> list[Json]:
    # <tags><tag>a</tag><tag>b</tag></tags> reads as {"tag": ["a", "b"]}, but means the list.
    if isinstance(value, dict):
        inner = list(cast("dict[str, Json]", value).values())
        if len(inner) == 1:
            return cast("list[Json]", inner[0]) if isinstance(inner[0], list) else inner
    return [value]


def _split(text: str) -> list[Json]:
    stripped = text.strip()
    if stripped.startswith("["):
        try:
            value = read_json(stripped)
        except ValueError:
            value = None
        if isinstance(value, list):
            return cast("list[Json]", value)
    parts = stripped.splitlines() if "\n" in stripped else stripped.split(",")
    cleaned = (_BULLET.sub("", part).strip() for part in parts)
    return [part for part in cleaned if part]


def _nested(value: Json, schema: Mapping[str, Any], path: str, problems: list[str]) -> Json:
    if isinstance(value, str):
        read = read_object(value.strip())
        if read is None:
            problems.append(f"{path}: {value[:60]!r} is not an object")
            return value
        value = read
    if isinstance(value, dict):
        return _object(cast("dict[str, Json]", value), schema, f"{path}.", problems)
    return value
