"""Checks: conditions on slots and files, each with a result and a reason. None of them crashes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from callboard.choreography.recipe.definition import (
    CheckKind,
    RecipeCheck,
    follow,
    parse_ref,
    resolve,
)
from callboard.choreography.recipe.errors import RefResolutionError
from callboard.choreography.recipe.running.slots import RunSlots
from callboard.core.canonical import Json, compact_json
from callboard.core.words import shorten
from callboard.tools.errors import ToolError
from callboard.tools.files import ProjectFiles


@dataclass(frozen=True, slots=True)
class RecipeCheckResult:
    """How one check ended."""

    check: str
    target: str
    passed: bool
    reason: str = ""
    expected: Json = None
    actual: Json = None

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "check": self.check,
            "target": self.target,
            "passed": self.passed,
            "reason": self.reason,
        }


def evaluate(check: RecipeCheck, slots: RunSlots, files: ProjectFiles) -> RecipeCheckResult:
    """Look whether a condition on slots or files holds."""
    match check.kind:
        case CheckKind.SLOT_NOT_NULL:
            return _slot_not_null(check, slots)
        case CheckKind.SLOT_FIELD_EQUALS:
            return _slot_field_equals(check, slots)
        case CheckKind.FILE_EXISTS:
            return _file_exists(check, slots, files)
        case CheckKind.TOOL_PASSES:
            raise AssertionError("a tool is not run here")


def judge_payload(check: RecipeCheck, payload: Mapping[str, Json]) -> RecipeCheckResult:
    """Look whether what a tool found is what a check wants of it."""
    actual: Json = payload
    if check.field_path is not None:
        try:
            actual = follow(parse_ref(f"payload.{check.field_path}"), {"payload": dict(payload)})
        except RefResolutionError as error:
            return _result(check, False, error.message)
    if check.unexpected is not None and is_same(actual, check.unexpected):
        return _result(check, False, f"is {_told(actual)}", actual=actual)
    if check.expected is not None and not is_same(actual, check.expected):
        reason = f"is {_told(actual)}, not {_told(check.expected)}"
        return _result(check, False, reason, actual=actual)
    return _result(check, True, actual=actual)


def failed(check: RecipeCheck, reason: str) -> RecipeCheckResult:
    """Return the result of a check that could not be made."""
    return _result(check, False, reason)


def is_same(one: Json, other: Json) -> bool:
    """Compare as JSON does: true is not 1, and 1 is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        a, b = cast(dict[str, Any], one), cast(dict[str, Any], other)
        return a.keys() == b.keys() and all(is_same(a[key], b[key]) for key in a)
    if isinstance(one, list) and isinstance(other, list):
        p, q = cast(list[Any], one), cast(list[Any], other)
        return len(p) == len(q) and all(is_same(x, y) for x, y in zip(p, q, strict=True))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    return bool(one == other)


def _slot_not_null(check: RecipeCheck, slots: RunSlots) -> RecipeCheckResult:
    slot = slots.get(str(check.slot))
    if slot is None:
        return _result(check, False, "was never filled")
    return _result(check, not slot.is_null, "is empty" if slot.is_null else "")


def _slot_field_equals(check: RecipeCheck, slots: RunSlots) -> RecipeCheckResult:
    try:
        actual = follow(parse_ref(f"{check.slot}.{check.field_path}"), slots.roots())
    except RefResolutionError as error:
        return _result(check, False, error.message)
    passed = is_same(actual, check.expected)
    reason = "" if passed else f"is {_told(actual)}, not {_told(check.expected)}"
    return _result(check, passed, reason, actual=actual)


def _file_exists(check: RecipeCheck, slots: RunSlots, files: ProjectFiles) -> RecipeCheckResult:
    try:
        path: Json = resolve(check.path, slots.roots())
        if not isinstance(path, str):
            return _result(check, False, f"{_told(path)} is not a path")
        there = files.sha256(path) is not None
    except (RefResolutionError, ToolError) as error:
        return _result(check, False, error.message)
    reason = "" if there else f"there is no {path} in the project"
    return _result(check, there, reason, actual=path)


def _result(
    check: RecipeCheck, passed: bool, reason: str = "", *, actual: Json = None
) -> RecipeCheckResult:
    expected = check.expected if check.kind is not CheckKind.SLOT_NOT_NULL else None
    return RecipeCheckResult(check.kind.value, check.target, passed, reason, expected, actual)


def _told(value: Json) -> str:
    return shorten(compact_json(value), 80)
