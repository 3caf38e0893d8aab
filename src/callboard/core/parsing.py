"""Data that somebody else wrote, as YAML or JSON: parsed without trusting it, or refused by line.

Knows text only. Where a file lies and what its data must look like is the caller's.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from callboard.core.errors import CallboardError

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

DEEPEST: Final = 50

_MOST_MISFITS: Final = 5
_SHOULD: Final = re.compile(r"^\w+ should ")
_PLAIN_WORDS: Final = {
    "missing": "is missing",
    "extra_forbidden": "is not known",
    "unexpected_keyword_argument": "is not known",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be a text",
    "list_type": "must be a list",
    "dict_type": "must be names with values",
    "model_type": "must be names with values",
}


class FileProblem(CallboardError):
    """Why a file cannot be used, in words that go on after its name, and in which line."""

    code = "unreadable_file"

    def __init__(self, message: str, line: int | None = None) -> None:
        """Take the reason and the line, counted from one."""
        super().__init__(message)
        self.line = line

    def at(self, shown: object) -> str:
        """Return the whole sentence: the file, the line and the reason."""
        place = "" if self.line is None else f":{self.line}"
        return f"{shown}{place} {self.message}"


def decode_text(data: bytes) -> str:
    """Read bytes as UTF-8 text, with or without a byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileProblem("is not UTF-8 text", data.count(b"\n", 0, error.start) + 1) from error


def load_yaml(text: str) -> Any:
    """Return what a YAML text holds that was checked before or is our own; else yaml's own error.

    libyaml reads it where it is there, ten times as fast. Its errors are told by the other parser:
    that one accepts more, and its words are the ones people know.
    """
    import yaml

    quick: Any = getattr(yaml, "CSafeLoader", None)
    # Of a line that ends in U+0085 the two read different values.
    if quick is not None and "\x85" not in text:
        try:
            return yaml.load(text, quick)  # noqa: S506 - a safe loader
        except (yaml.YAMLError, UnicodeEncodeError):
            pass
    return yaml.safe_load(text)


def parse_yaml(text: str, deepest: int = DEEPEST) -> Any:
    """Return what a YAML text holds; whatever is wrong with it is a `FileProblem`."""
    import yaml

    try:
        refuse_traps(text, deepest)
        return load_yaml(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        reason = error.problem or error.context or "a mistake"
        raise FileProblem(f"is not valid YAML: {reason}", line) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FileProblem(f"is not valid YAML: {reason}") from error


def parse_json(text: str, deepest: int = DEEPEST) -> Any:
    """Return what a JSON text holds; whatever is wrong with it is a `FileProblem`."""
    try:
        data: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise FileProblem(f"is not JSON: {error.msg}", error.lineno) from error
    except RecursionError as error:
        raise _too_deep(deepest) from error
    except ValueError as error:
        raise FileProblem(f"is not JSON: {error}") from error
    # What the parser still bears may be too deep for whoever goes through it afterwards.
    level: list[Any] = [data]
    for _ in range(deepest + 1):
        level = [inner for each in level for inner in _held(each)]
        if not level:
            return data
    raise _too_deep(deepest)


def refuse_traps(text: str, deepest: int = DEEPEST, *, with_aliases: bool = False) -> None:
    """Raise `FileProblem` for YAML that only an attack needs; other mistakes are yaml's own errors.

    A few nested aliases expand to gigabytes; deep nesting takes hours to read, and ends the whole
    process where the parser is written in C. A project's file is written by a stranger.
    """
    import yaml

    quick: Any = getattr(yaml, "CSafeLoader", None)
    # Of a line that ends in U+0085 the two read different values.
    if quick is not None and "\x85" not in text:
        try:
            _scan(text, quick, deepest, with_aliases)
        except yaml.YAMLError:
            # The other scanner accepts more, and its words are the ones people know.
            pass
        else:
            return
    _scan(text, yaml.SafeLoader, deepest, with_aliases)


def _scan(text: str, loader: Any, deepest: int, with_aliases: bool) -> None:
    import yaml

    depth = -1  # the stream itself is the first thing to start
    for token in cast(
        "Iterable[yaml.Token]",
        yaml.scan(text, loader),  # pyright: ignore[reportUnknownMemberType]
    ):
        name = type(token).__name__
        line = token.start_mark.line + 1
        if isinstance(token, yaml.AliasToken) and not with_aliases:
            raise FileProblem("uses a YAML alias (*name); write the value out", line)
        depth += name.endswith("StartToken") - name.endswith("EndToken")
        if depth > deepest:
            raise _too_deep(deepest, line)


def _held(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return cast("Mapping[Any, Any]", value).values()
    return cast("Sequence[Any]", value) if isinstance(value, list) else ()


def _too_deep(deepest: int, line: int | None = None) -> FileProblem:
    return FileProblem(f"nests more than {deepest} levels deep", line)


def misfit(problem: "ErrorDetails") -> str:
    """Say in plain words why a value does not fit, to go on after the name of its place."""
    plain = _PLAIN_WORDS.get(problem["type"])
    if plain is not None:
        return plain
    told = problem["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return _SHOULD.sub("must ", told.partition(", unable to ")[0]).replace(" a valid ", " a ")


def misfits(error: "ValidationError", whole: str) -> str:
    """Say what does not fit where; `whole` names the value itself, which may be at fault."""
    # Neither values nor causes: either may hold a secret.
    found = error.errors(include_url=False, include_input=False, include_context=False)
    told = [
        f"{'.'.join(str(part) for part in each['loc']) or whole}: {misfit(each)}" for each in found
    ]
    more = [f"and {len(told) - _MOST_MISFITS} more"] if len(told) > _MOST_MISFITS else []
    return "; ".join(told[:_MOST_MISFITS] + more)
