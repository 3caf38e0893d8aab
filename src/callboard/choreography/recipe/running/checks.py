"""Checks: conditions on slots and files, and the proof of a text before it is written.

A condition has a result and a reason; none of them crashes. For the proof a pack names the tool
that looks, whoever wrote the text. A model can only make a verdict worse: what fails here is not
written, and what nobody looked at is not called good.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.choreography.recipe.definition import (
    CheckKind,
    RecipeCheck,
    follow,
    parse_ref,
    resolve,
)
from callboard.choreography.recipe.errors import RefResolutionError
from callboard.choreography.recipe.running.play import Play
from callboard.choreography.recipe.running.slots import PointerSlot, RunSlots, read_findings
from callboard.choreography.tool_use import ToolUse, use_tool
from callboard.core.canonical import Json, compact_json
from callboard.core.codec import Coded
from callboard.core.words import shorten
from callboard.studio.studio import Studio
from callboard.tools import Policy, ToolCall
from callboard.tools.errors import ToolError
from callboard.tools.files import ProjectFiles

FAIL: Final = "FAIL"
NOT_CHECKED: Final = "NOT_CHECKED"
_MOST_TOLD: Final = 10
_TOLD_CHARS: Final = 300


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


@dataclass(frozen=True, slots=True)
class Proof(Coded):
    """What a tool says of a text that is about to be written."""

    tool: str
    receipt_id: str
    verdict: str
    told: str
    findings: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether the text must not be written without the human."""
        return self.verdict == FAIL

    @property
    def reason(self) -> str:
        """Why it fails, in one line."""
        return shorten("; ".join(self.findings) or self.told, _TOLD_CHARS)

    @classmethod
    def of_commit(cls, data: Json) -> "Proof | None":
        """Read what is stored of a commit; one that was stored without a proof has none."""
        return cls.from_json(cast("dict[str, Any]", data)) if isinstance(data, dict) else None


async def prove(play: Play, key: str, path: str, text: str) -> tuple[Proof, PointerSlot] | None:
    """Have the pack's tool look at a text for a file; None if the pack has none for that."""
    if play.house.proof is None:
        return None
    await play.turn.ready(key)
    args: dict[str, Json] = {"path": path, "text": text}
    # Without a slot: a proof cannot be set by hand.
    outcome = await use_tool(play.studio, play.run, ToolUse(key, play.house.proof, args, None))
    proof = _read_proof(outcome.tool, outcome.receipt_id, outcome.payload, outcome.preview)
    return proof, PointerSlot(outcome)


async def prove_again(studio: Studio, tool: str, proposal: tuple[str, str, str, str]) -> Proof:
    """Have a text looked at now, on record: session, run, path and text of a proposal."""
    session_id, run_id, path, text = proposal
    call = ToolCall(tool, {"path": path, "text": text}, session_id, run_id=run_id)
    ran = await studio.tools.run(call, Policy())
    result = ran.execution.unwrap()
    return _read_proof(tool, ran.receipt.id, result.payload, result.preview)


def _read_proof(tool: str, receipt_id: str, payload: dict[str, Any], preview: str) -> Proof:
    grave = [each for each in read_findings(payload) if each.get("severity") == "major"]
    told = tuple(str(each.get("message", "")) for each in grave[:_MOST_TOLD])
    more = len(grave) - len(told)
    return Proof(
        tool,
        receipt_id,
        str(payload.get("verdict", NOT_CHECKED)),
        preview,
        (*told, f"and {more} more") if more > 0 else told,
    )
