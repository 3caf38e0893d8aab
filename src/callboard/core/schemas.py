"""JSON schemas: each is checked and made into a validator once, and kept for the next time."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

from callboard.core.canonical import Json, compact_json
from callboard.core.errors import InvalidInput
from callboard.core.patterns import compile_pattern

_KEPT: Final = 256


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where a value breaks a schema; the whole value is the place without steps."""

    path: tuple[str | int, ...]
    message: str


def check_schema(schema: Mapping[str, Json]) -> None:
    """Refuse a schema that is none, before anything is spent on it."""
    _validator_of(schema)


def violations(value: Json, schema: Mapping[str, Json]) -> Iterator[Violation]:
    """Go through the places where a value breaks a schema."""
    from referencing.exceptions import Unresolvable

    validator = _validator_of(schema)
    try:
        for error in validator.iter_errors(value):
            yield Violation(tuple(error.absolute_path), str(error.message))
    except Unresolvable as error:
        raise InvalidInput(
            f"The JSON schema refers to what it does not hold: {error}",
            fix="Put every definition the schema refers to under its own `$defs`.",
        ) from error
    except RecursionError:
        # A value is a stranger's as well: one that cannot be followed to its end is not valid.
        yield Violation((), "nested too deeply to be checked")


def _validator_of(schema: Mapping[str, Json]) -> Any:
    try:
        return _validator(compact_json(dict(schema)))
    except RecursionError as error:
        raise InvalidInput(
            "The JSON schema is nested too deeply to be read",
            fix="Write it flatter, with the inner parts under its own `$defs`.",
        ) from error


@lru_cache(_KEPT)
def _validator(schema: str) -> Any:
    # Imported here: the validator is heavy and most of what runs never needs it.
    from jsonschema import Draft202012Validator, validators
    from jsonschema.exceptions import SchemaError
    from referencing import Registry

    rules = {"pattern": _pattern, "patternProperties": _pattern_properties}
    made = cast(Any, validators).extend(Draft202012Validator, rules)
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


def _pattern(validator: Any, pattern: str, value: object, schema: Any) -> Iterator[Any]:
    """Check a text against a schema's pattern, which may be a stranger's, on the linear engine."""
    from jsonschema.exceptions import ValidationError

    if isinstance(value, str) and not _holds(pattern, value):
        yield cast(Any, ValidationError)(f"{value!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, rules: Mapping[str, Any], value: object, schema: Any
) -> Iterator[Any]:
    if not isinstance(value, dict):
        return
    for pattern, rule in rules.items():
        for name, member in cast("dict[str, Json]", value).items():
            if _holds(pattern, name):
                yield from validator.descend(member, rule, path=name, schema_path=pattern)


def _holds(pattern: str, text: str) -> bool:
    return compile_pattern(pattern).search(text) is not None
