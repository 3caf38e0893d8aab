"""The strict protocol of tool calls: what a reply asks for, or the code that says why nothing runs.

One reply becomes one journaled decision, and its nonce is spent with it.

A call is a reply that is one JSON object and nothing else. Prose around it, two objects, a key too
many: none of it is guessed at.

The nonce is marked as used in the transaction that records the decision. So it works once, and a
run that is resumed between the decision and the call does not find its own nonce used up.
"""

import json
import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any, Final, NoReturn, cast

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json, digest
from callboard.core.vocabulary import Effect, StepKind
from callboard.engine.scope import StepScope
from callboard.tools import NonceInvalid, NonceScope

_THINKING: Final = re.compile(r"\s*<(think(?:ing)?)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_CALL_KEYS: Final = frozenset({"action", "tool", "args", "nonce"})
_FINAL_KEYS: Final = frozenset({"action", "nonce", "note"})


class CallCode(StrEnum):
    """Why a call was not let through; nothing has run then."""

    INVALID_FORMAT = "tool_call_invalid_format"
    UNKNOWN_TOOL = "tool_call_unknown_tool"
    INVALID_ARGS = "tool_call_invalid_args"
    MULTIPLE = "tool_call_multiple"
    NONCE_INVALID = "tool_call_nonce_invalid"
    NOT_ALLOWED = "tool_call_not_allowed"
    REQUIRED = "tool_call_required"


@dataclass(frozen=True, slots=True)
class WantsTool:
    """The reply asks for one tool; whether it may is for the server to say."""

    tool: str
    args: dict[str, Json]
    nonce: str


@dataclass(frozen=True, slots=True)
class WantsToFinish:
    """The reply says that nothing more is to be gathered."""

    nonce: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """The reply is not a call; the detail is for whoever wrote it."""

    code: CallCode
    detail: str


def is_call_like(text: str) -> bool:
    """Say whether a reply sets out to be a call, well-formed or not, and not an answer."""
    return without_thinking(text)[:1] in ("{", "[")


def without_thinking(text: str) -> str:
    """Return a reply without the thoughts some models put before it."""
    found = _THINKING.match(text)
    return (text[found.end() :] if found is not None else text).strip()


def read_call(text: str) -> WantsTool | WantsToFinish | Refused:
    """Read a reply that must be a call or a final; never raises for what it may hold."""
    said = without_thinking(text)
    if not said.startswith(("{", "[")):
        return Refused(CallCode.INVALID_FORMAT, "the reply is not one JSON object")
    try:
        value, end = _decoder.raw_decode(said)
    except (ValueError, RecursionError) as error:
        return Refused(CallCode.INVALID_FORMAT, f"the reply is not JSON: {error}")
    rest = said[end:].strip().lstrip(",").lstrip()
    if rest.startswith("{") or (isinstance(value, list) and len(cast("list[Json]", value)) > 1):
        return Refused(CallCode.MULTIPLE, "the reply holds more than one JSON object")
    if rest:
        return Refused(CallCode.INVALID_FORMAT, "there is text after the JSON object")
    if not isinstance(value, dict):
        return Refused(CallCode.INVALID_FORMAT, "the reply is a list, not one JSON object")
    return _judge(cast("dict[str, Any]", value))


def _judge(value: dict[str, Any]) -> WantsTool | WantsToFinish | Refused:
    action = value.get("action", "tool")
    if action not in ("tool", "final"):
        return Refused(CallCode.INVALID_FORMAT, f"action is {action!r}, not tool or final")
    unknown = sorted(value.keys() - (_CALL_KEYS if action == "tool" else _FINAL_KEYS))
    if unknown:
        return Refused(CallCode.INVALID_FORMAT, f"unknown keys: {', '.join(unknown)}"[:200])
    nonce = value.get("nonce")
    if not isinstance(nonce, str) or not nonce:
        return Refused(CallCode.NONCE_INVALID, "the nonce is missing")
    if action == "final":
        note = value.get("note", "")
        return WantsToFinish(nonce, note if isinstance(note, str) else "")
    tool, args = value.get("tool"), value.get("args")
    if not isinstance(tool, str) or not tool:
        return Refused(CallCode.INVALID_FORMAT, "the tool is missing")
    if not isinstance(args, dict):
        return Refused(CallCode.INVALID_ARGS, "args is not a JSON object")
    return WantsTool(tool, cast("dict[str, Json]", args), nonce)


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    read = dict(pairs)
    if len(read) < len(pairs):
        # Which of the two is meant cannot be known.
        raise ValueError("a key stands twice in one object")
    return read


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_decoder: Final = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse_constant)


class Verb(StrEnum):
    """What a reply turned out to be."""

    CALL = "call"
    FINISH = "finish"
    ANSWER = "answer"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class CallDecision:
    """What is to be done with a reply; `text` is the note of a final or the answer itself."""

    verb: Verb
    tool: str = ""
    args: dict[str, Json] = field(default_factory=dict[str, Json])
    permit: str = ""
    text: str = ""
    refused: Refused | None = None


async def permit(
    stage: Stage, key: str, text: str, scope: NonceScope, *, is_unmet: bool, may_answer: bool
) -> CallDecision:
    """Decide about a reply; `is_unmet` says that a call is still required."""

    async def act(step: StepScope) -> Json:
        decided = _decide(stage, step, text, scope, is_unmet=is_unmet, may_answer=may_answer)
        step.preview = str(decided.get("code") or decided.get("tool") or decided["verb"])
        return decided

    inputs = {"reply": digest(text), "is_unmet": is_unmet, "may_answer": may_answer}
    decided = await stage.run.step(
        key, act, inputs=inputs, kind=StepKind.DECISION, effect=Effect.PURE
    )
    return _read(decided)


def _decide(
    stage: Stage,
    step: StepScope,
    text: str,
    scope: NonceScope,
    *,
    is_unmet: bool,
    may_answer: bool,
) -> dict[str, Json]:
    if may_answer and not is_call_like(text):
        return _required() if is_unmet else _shape(Verb.ANSWER, text=without_thinking(text))
    wanted = read_call(text)
    if isinstance(wanted, Refused):
        return _refusal(wanted.code, wanted.detail)
    try:
        nonce_id = stage.studio.tools.check_nonce(wanted.nonce, scope)
    except NonceInvalid as error:
        return _refusal(CallCode.NONCE_INVALID, error.message)
    if isinstance(wanted, WantsToFinish) and is_unmet:
        return _required()
    step.commit_with(partial(stage.studio.tools.spend_nonce, nonce_id=nonce_id, scope=scope))
    if isinstance(wanted, WantsTool):
        return _shape(Verb.CALL, tool=wanted.tool, args=wanted.args, permit=nonce_id)
    return _shape(Verb.FINISH, text=wanted.note)


def _shape(verb: Verb, **more: Json) -> dict[str, Json]:
    return {"verb": verb.value, **more}


def _refusal(code: CallCode, detail: str) -> dict[str, Json]:
    return _shape(Verb.REFUSE, code=code.value, detail=detail)


def _required() -> dict[str, Json]:
    return _refusal(CallCode.REQUIRED, "a tool must be called before this can be finished")


def _read(decided: Json) -> CallDecision:
    data = cast("dict[str, Any]", decided)
    verb = Verb(data["verb"])
    if verb is Verb.REFUSE:
        return CallDecision(verb, refused=Refused(CallCode(data["code"]), data["detail"]))
    return CallDecision(
        verb,
        data.get("tool", ""),
        data.get("args", {}),
        data.get("permit", ""),
        data.get("text", ""),
    )
