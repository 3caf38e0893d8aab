"""Structured replies: find the JSON in a text and check it against a schema.

It judges finished text only. Enforcing a schema while decoding is a provider's business, asking
again is the ladder's.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput

_FENCE: Final = re.compile(r"```[\w-]*\s*\n(.*?)```", re.DOTALL)
_OPENING: Final = re.compile(r"[\[{]")
_MAX_OPENINGS: Final = 64
_SHOWN_ERRORS: Final = 3


class BrokenStructure(ValueError):
    """The text holds no JSON, or JSON that breaks the schema."""


def parse_structured(text: str, schema: Mapping[str, Json]) -> Json:
    """Return the JSON value in a reply if it obeys the schema."""
    value = _find_json(text)
    check_value(value, schema)
    return value


def check_value(value: Json, schema: Mapping[str, Json]) -> None:
    """Refuse a value that breaks the schema, naming the first few places."""
    problems = _violations(value, schema)
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


def check_schema(schema: Mapping[str, Json]) -> None:
    """Refuse a schema that is none, before anything is spent on it."""
    # Imported here and below: the validator is heavy and most requests carry no schema.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(dict(schema))
    except SchemaError as error:
        raise InvalidInput(
            f"The JSON schema of the request is not valid: {error.message}",
            fix="Correct the schema the agent or tool declares.",
        ) from error


def _violations(value: Any, schema: Mapping[str, Json]) -> list[str]:
    from jsonschema import Draft202012Validator
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    # An empty registry: a reference in a schema never reaches out to the network.
    validator = Draft202012Validator(dict(schema), registry=Registry[Any]())
    found: list[str] = []
    try:
        for error in validator.iter_errors(value):  # pyright: ignore[reportUnknownMemberType]
            place = "/".join(str(part) for part in error.absolute_path) or "the reply"
            found.append(f"{place}: {error.message[:200]}")
            if len(found) == _SHOWN_ERRORS:
                break
    except Unresolvable as error:
        raise InvalidInput(
            f"The JSON schema of the request refers to what it does not hold: {error}",
            fix="Put every definition the schema refers to under its own `$defs`.",
        ) from error
    return found
