"""Structured replies: find the JSON in a text and check it against a schema.

It judges finished text only. Enforcing a schema while decoding is a provider's business, asking
again is the ladder's.
"""

import json
import re
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.schemas import violations

_FENCE: Final = re.compile(r"```[\w-]*+[^\S\n]*+\n(.*?)```", re.DOTALL)
_OPENING: Final = re.compile(r"[\[{]")
_MAX_OPENINGS: Final = 64
_SHOWN_ERRORS: Final = 3
_SHOWN_CHARS: Final = 200


class BrokenStructure(ValueError):
    """The text holds no JSON, or JSON that breaks the schema."""


def parse_structured(text: str, schema: Mapping[str, Json]) -> Json:
    """Return the JSON value in a reply if it obeys the schema."""
    value = _find_json(text)
    check_value(value, schema)
    return value


def check_value(value: Json, schema: Mapping[str, Json]) -> None:
    """Refuse a value that breaks the schema, naming the first few places."""
    found = islice(violations(value, schema), _SHOWN_ERRORS)
    places = (("/".join(map(str, each.path)) or "the reply", each.message) for each in found)
    problems = [f"{place}: {message[:_SHOWN_CHARS]}" for place, message in places]
    if problems:
        raise BrokenStructure("; ".join(problems))


def _find_json(text: str) -> Any:
    """Accept the bare value, a fenced block, or the first object or array in prose."""
    for candidate in (text, *(found[1] for found in _FENCE.finditer(text))):
        try:
            return _load(candidate)
        except ValueError:
            continue
    return _first_in_prose(text)


def _first_in_prose(text: str) -> Any:
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    opening, tries = _OPENING.search(text), 0
    while opening is not None and tries < _MAX_OPENINGS:
        tries += 1
        try:
            return decoder.raw_decode(text, opening.start())[0]
        except json.JSONDecodeError as error:
            # Go on behind what was read: a piece of broken JSON is not the answer.
            opening = _OPENING.search(text, max(error.pos, opening.end()))
        except (ValueError, RecursionError):
            break
    raise BrokenStructure("the reply holds no JSON")


def _load(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
