"""JSON artifacts: find the JSON in a reply, validate it, or say precisely what is wrong.

A problem report is what a caller sends back once for repair. Calls no model itself.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar, cast, overload

from callboard.core.canonical import Json
from callboard.core.schemas import violations
from callboard.replies.code import FENCE_START, CodeMap
from callboard.replies.json_text import read_json_at, without_trailing_commas

T = TypeVar("T")

_START: Final = re.compile(r"[{\[]")
_FENCE_LINE: Final = re.compile(FENCE_START, re.MULTILINE)
_MAX_ATTEMPTS: Final = 40
_MAX_REPAIR_CHARS: Final = 100_000
_MAX_DETAILS: Final = 20


@dataclass(frozen=True, slots=True)
class Extracted(Generic[T]):
    """A valid value and the JSON it came from."""

    value: T
    data: Json


@dataclass(frozen=True, slots=True)
class JsonProblem:
    """Why no valid value was found: `no_json`, `bad_json` or `invalid`.

    `details` has one line per fault; `found` is the JSON that was looked at, if any was.
    """

    code: str
    details: tuple[str, ...]
    schema: Mapping[str, Json]
    found: Json = None

    @property
    def report(self) -> str:
        """The faults as a list, ready to be sent back."""
        return "\n".join(f"- {detail}" for detail in self.details)


@overload
def extract_json(text: str, target: type[T]) -> Extracted[T] | JsonProblem: ...
@overload
def extract_json(
    text: str, target: Mapping[str, Json] | None = None
) -> Extracted[Json] | JsonProblem: ...
def extract_json(text: str, target: Any = None) -> Extracted[Any] | JsonProblem:
    """Return the first JSON value of a reply that fits a Pydantic type or a JSON schema.

    Fences and surrounding prose are looked through; a trailing comma is forgiven.
    """
    checker = _checker_for(target)
    # The largest thing that was nearly right is the one worth repairing.
    nearest: JsonProblem | None = None
    nearest_chars = 0
    fault = _Fault("the reply holds no JSON object or list", -1)
    for candidate in _candidates(text):
        if isinstance(candidate, _Fault):
            fault = max(fault, candidate, key=lambda each: each.progress)
            continue
        result = checker.check(candidate.value)
        if isinstance(result, Extracted):
            return result
        if candidate.chars > nearest_chars:
            nearest = JsonProblem("invalid", result, checker.schema, candidate.value)
            nearest_chars = candidate.chars
    if nearest is not None:
        return nearest
    code = "no_json" if fault.progress < 0 else "bad_json"
    return JsonProblem(code, (fault.reason,), checker.schema)


@dataclass(frozen=True, slots=True)
class _Candidate:
    value: Json
    chars: int


@dataclass(frozen=True, slots=True)
class _Fault:
    reason: str
    progress: int


def _candidates(text: str) -> Iterator[_Candidate | _Fault]:
    for block in (*_fenced(text), text):
        yield from _values_in(block)


def _fenced(text: str) -> Iterator[str]:
    code = CodeMap(text)
    position = 0
    while (match := _FENCE_LINE.search(text, position)) is not None:
        position = match.end()
        if code.opens_fence(match.start()):
            body_start = code.fence_body(match.start())
            end = code.fence_end(match.start())
            yield text[body_start : text.rfind("\n", body_start, end) if end else len(text)]
            position = end or len(text)


def _values_in(text: str) -> Iterator[_Candidate | _Fault]:
    position = 0
    for _ in range(_MAX_ATTEMPTS):
        match = _START.search(text, position)
        if match is None:
            return
        found = _value_at(text, match.start())
        if isinstance(found, _Fault):
            yield found
            position = match.end()
        else:
            yield found[0]
            position = found[1]


def _value_at(text: str, start: int) -> tuple[_Candidate, int] | _Fault:
    try:
        value, end = read_json_at(text, start)
    except ValueError as error:
        fault = _fault(error, text, start)
    else:
        return _Candidate(value, end - start), end
    tail = text[start : start + _MAX_REPAIR_CHARS]
    cleaned = without_trailing_commas(tail)
    if cleaned == tail:
        return fault
    try:
        value, end = read_json_at(cleaned, 0)
    except ValueError:
        return fault
    # The value ended earlier in the cleaned text by the commas that were taken out before it.
    return _Candidate(value, end), start + end


def _fault(error: ValueError, text: str, start: int) -> _Fault:
    if isinstance(error, json.JSONDecodeError):
        near = text[max(0, error.pos - 20) : error.pos + 20]
        where = f"line {error.lineno}, column {error.colno}"
        return _Fault(f"{where}: {error.msg}, near {near!r}", error.pos - start)
    return _Fault(str(error), 0)


def _checker_for(target: Any) -> "_TypeChecker | _SchemaChecker | _AnyChecker":
    if target is None:
        return _AnyChecker()
    if isinstance(target, Mapping):
        return _SchemaChecker(cast("Mapping[str, Json]", target))
    return _TypeChecker(target)


class _AnyChecker:
    schema: Mapping[str, Json] = MappingProxyType({})

    def check(self, value: Json) -> Extracted[Any] | tuple[str, ...]:
        return Extracted(value, value)


class _TypeChecker:
    def __init__(self, target: Any) -> None:
        from pydantic import TypeAdapter

        self._adapter: TypeAdapter[Any] = TypeAdapter(target)

    @property
    def schema(self) -> Mapping[str, Json]:
        return self._adapter.json_schema()

    def check(self, value: Json) -> Extracted[Any] | tuple[str, ...]:
        from pydantic import ValidationError

        try:
            return Extracted(self._adapter.validate_python(value), value)
        except ValidationError as error:
            faults = error.errors(include_url=False, include_input=False)[:_MAX_DETAILS]
            return tuple(f"{_path(fault['loc'])}: {fault['msg']}" for fault in faults)


class _SchemaChecker:
    def __init__(self, schema: Mapping[str, Json]) -> None:
        self.schema = schema

    def check(self, value: Json) -> Extracted[Any] | tuple[str, ...]:
        found = violations(value, self.schema)
        faults = [f"{_path(each.path)}: {each.message}" for each in found]
        return tuple(sorted(faults)[:_MAX_DETAILS]) if faults else Extracted(value, value)


def _path(steps: Any) -> str:
    return ".".join(str(step) for step in steps) or "the value"
