"""Read JSON that a model wrote: strict about meaning, forgiving about a comma. Never evaluates."""

import json
import re
from typing import Any, Final, NoReturn, cast

from callboard.core.canonical import Json

_MAX_DEPTH: Final = 64
_MARKS: Final = re.compile(r'["\\,]')
_CLOSER: Final = re.compile(r"\s*[}\]]")


def read_json(text: str) -> Json:
    """Return the one JSON value of a text, or raise ValueError."""
    text = text.strip()
    value, end = read_json_at(text, 0)
    if text[end:].strip():
        raise ValueError(f"text after the JSON value at offset {end}")
    return value


def read_json_at(text: str, start: int) -> tuple[Json, int]:
    """Return the JSON value that starts at an offset and where it ends, or raise ValueError."""
    try:
        value, end = _decoder.raw_decode(text, start)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    if _depth_exceeds(value, _MAX_DEPTH):
        raise ValueError(f"the JSON is nested deeper than {_MAX_DEPTH} levels")
    return value, end


def without_trailing_commas(text: str) -> str:
    """Return JSON text without commas that stand before a closing bracket, strings untouched."""
    kept: list[str] = []
    position = copied = 0
    in_string = False
    while (match := _MARKS.search(text, position)) is not None:
        mark, position = match[0], match.end()
        if mark == "\\":
            position += 1
        elif mark == '"':
            in_string = not in_string
        elif not in_string and _CLOSER.match(text, position):
            kept.append(text[copied : match.start()])
            copied = position
    kept.append(text[copied:])
    return "".join(kept)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_decoder: Final = json.JSONDecoder(parse_constant=_refuse_constant)


def _depth_exceeds(value: Any, limit: int) -> bool:
    level: list[Any] = [value]
    for _ in range(limit):
        nested: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                nested.extend(cast("dict[str, Any]", each).values())
            elif isinstance(each, list):
                nested.extend(cast("list[Any]", each))
        if not nested:
            return False
        level = nested
    return True
