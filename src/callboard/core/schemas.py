"""JSON schemas: each is checked and made into a validator once, and kept for the next time."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

from callboard.core.canonical import Json, compact_json
from callboard.core.errors import InvalidInput

_KEPT: Final = 256


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where a value breaks a schema; the whole value is the place without steps."""

    path: tuple[str | int, ...]
    message: str


def check_schema(schema: Mapping[str, Json]) -> None:
    """Refuse a schema that is none, before anything is spent on it."""
    _validator(compact_json(dict(schema)))


def violations(value: Json, schema: Mapping[str, Json]) -> Iterator[Violation]:
    """Go through the places where a value breaks a schema."""
    from referencing.exceptions import Unresolvable

    validator = _validator(compact_json(dict(schema)))
    try:
        for error in validator.iter_errors(value):
            yield Violation(tuple(error.absolute_path), str(error.message))
    except Unresolvable as error:
        raise InvalidInput(
            f"The JSON schema refers to what it does not hold: {error}",
            fix="Put every definition the schema refers to under its own `$defs`.",
        ) from error


@lru_cache(_KEPT)
def _validator(schema: str) -> Any:
    # Imported here: the validator is heavy and most of what runs never needs it.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing import Registry

    made = cast(Any, Draft202012Validator)
    document = json.loads(schema)
    try:
        made.check_schema(document)
    except SchemaError as error:
        raise InvalidInput(
            f"The JSON schema is not valid: {error.message}",
            fix="Correct the schema the agent or tool declares.",
        ) from error
    # An empty registry: a reference in a schema never reaches out to the network.
    return made(document, registry=Registry[Any]())
