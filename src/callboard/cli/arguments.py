"""Values from the command line: `key=value` pairs, JSON objects, texts from files."""

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput, NotFound

STANDARD_INPUT = "-"
_LARGEST_BYTES: Final = 64_000_000

Name = TypeVar("Name", bound=StrEnum)
Given = TypeVar("Given", str, bytes)


def read_arguments(
    pairs: Sequence[str], json_file: str | None, option: str = "--arg"
) -> dict[str, Json]:
    """Return arguments; a pair wins over the JSON object; a list or object in it is JSON too."""
    given = {} if json_file is None else read_json_object(json_file)
    return {**given, **{key: _value(text) for key, text in read_pairs(pairs, option).items()}}


def read_pairs(pairs: Sequence[str], option: str) -> dict[str, str]:
    """Split `key=value` texts."""
    read: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InvalidInput(
                f"{option} {pair!r} is not of the form KEY=VALUE", fix=f"Write {option} KEY=VALUE."
            )
        read[key] = value
    return read


def _value(text: str) -> Json:
    if not text.startswith(("[", "{")):
        return text
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return text


def read_text(name: str) -> str:
    """Return the text of a file, or of standard input."""
    try:
        if name == STANDARD_INPUT:
            return _bounded(sys.stdin.read(_LARGEST_BYTES + 1), "standard input")
        # Named by the user, who may well give a pipe: `<(command)`.
        with Path(name).open("rb") as stream:
            return _bounded(stream.read(_LARGEST_BYTES + 1), name).decode()
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {name}", path=name) from error
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read: {error.strerror}", path=name) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{name} is not UTF-8 text", path=name) from error


def _bounded(data: Given, name: str) -> Given:
    if len(data) > _LARGEST_BYTES:
        raise InvalidInput(
            f"{name} is larger than {_LARGEST_BYTES} bytes", fix="Give less.", path=name
        )
    return data


def read_json_object(name: str) -> dict[str, Json]:
    """Return the JSON object in a file, or on standard input."""
    try:
        data: Any = json.loads(read_text(name))
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{name} is not JSON: {error.msg} in line {error.lineno}", path=name
        ) from error
    except RecursionError as error:
        raise InvalidInput(f"{name} nests too deeply", path=name) from error
    if not isinstance(data, dict):
        raise InvalidInput(
            f"{name} holds a {type(data).__name__}",
            fix='Arguments are a JSON object: {"subject": "lighthouse"}.',
        )
    return cast("dict[str, Json]", data)


def one_of(names: type[Name], text: str, option: str) -> Name:
    """Return the value a user named; anything else is an error that lists what there is."""
    try:
        return names(text)
    except ValueError:
        listed = ", ".join(each.value for each in names)
        raise InvalidInput(
            f"{option} {text!r} is not known", fix=f"Choose one of: {listed}."
        ) from None
