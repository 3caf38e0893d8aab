"""Permitting: one reply becomes one journaled decision, and its nonce is spent with it.

The nonce is marked as used in the transaction that records the decision. So it works once, and a
run that is resumed between the decision and the call does not find its own nonce used up.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any, cast

from callboard.choreography.calling.protocol import (
    CallCode,
    Refused,
    WantsToFinish,
    WantsTool,
    is_call_like,
    read_call,
    without_thinking,
)
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json, digest
from callboard.core.vocabulary import StepKind
from callboard.engine.scope import StepScope
from callboard.tools import NonceInvalid, NonceScope


class Verb(StrEnum):
    """What a reply turned out to be."""

    CALL = "call"
    FINISH = "finish"
    ANSWER = "answer"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be done with a reply; `text` is the note of a final or the answer itself."""

    verb: Verb
    tool: str = ""
    args: dict[str, Json] = field(default_factory=dict[str, Json])
    permit: str = ""
    text: str = ""
    refused: Refused | None = None


async def permit(
    stage: Stage, key: str, text: str, scope: NonceScope, *, is_unmet: bool, may_answer: bool
) -> Decision:
    """Decide about a reply; `is_unmet` says that a call is still required."""

    async def act(step: StepScope) -> Json:
        decided = _decide(stage, step, text, scope, is_unmet=is_unmet, may_answer=may_answer)
        step.preview = str(decided.get("code") or decided.get("tool") or decided["verb"])
        return decided

    inputs = {"reply": digest(text), "is_unmet": is_unmet, "may_answer": may_answer}
    return _read(await stage.run.step(key, act, inputs=inputs, kind=StepKind.DECISION))


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


def _read(decided: Json) -> Decision:
    data = cast("dict[str, Any]", decided)
    verb = Verb(data["verb"])
    if verb is Verb.REFUSE:
        return Decision(verb, refused=Refused(CallCode(data["code"]), data["detail"]))
    return Decision(
        verb,
        data.get("tool", ""),
        data.get("args", {}),
        data.get("permit", ""),
        data.get("text", ""),
    )
