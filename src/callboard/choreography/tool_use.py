"""One tool call of code inside a run: its receipt is sealed with the record of the step."""

import json
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, cast

from callboard.choreography.staffing import EXECUTING, showing
from callboard.choreography.values import ToolOutcome, pack_of
from callboard.core.canonical import Json, compact_json
from callboard.core.vocabulary import Agent, Effect, ReceiptOutcome, StepKind
from callboard.engine.run import Run
from callboard.engine.scope import CannotTell, Finding, Happened, NotHappened, StepScope
from callboard.studio.studio import Studio
from callboard.tools import Policy, ReceiptDraft, ToolCall, ToolExecution, read_receipt


@dataclass(frozen=True, slots=True)
class ToolUse:
    """What is to be run, and for whom.

    `policy` is what a reply's own words are held against; with it an unknown tool is refused on
    record like any other call. `permit` is the spent nonce under which the call was let through.
    With `is_settled` a call that ends badly is done all the same: its receipt tells how.
    """

    key: str
    tool: str
    args: dict[str, Json]
    slot: str | None
    agent_id: str | None = None
    policy: Policy | None = None
    permit: str | None = None
    is_settled: bool = False


async def use_tool(studio: Studio, run: Run, use: ToolUse) -> ToolOutcome:
    """Use a tool once, journal the pointer to its receipt, and return what the receipt holds."""
    registry, agent_id = studio.tools.registry, use.agent_id
    agent = studio.repertoire.agent(agent_id, pack_of(run)) if agent_id is not None else None
    is_unheard_of = use.policy is not None and use.tool not in registry
    effect = Effect.PURE if is_unheard_of else registry.get(use.tool).effect
    policy = use.policy or _policy(studio, agent)
    call = ToolCall(
        tool=use.tool,
        args=use.args,
        session_id=run.session_id,
        run_id=run.id,
        step_key=run.key(use.key),
        agent_id=agent.id if agent else None,
        permit=use.permit,
    )
    # What a probe found, kept for `confirm`, which puts it on record.
    found: list[ToolExecution] = []
    # What was executed here and now: its receipt need not be read back.
    made: list[ReceiptDraft] = []

    def stopped(draft: ReceiptDraft) -> None:
        # A cancelled step is not journaled, but what was begun leaves its receipt all the same.
        studio.database.submit(lambda connection: studio.tools.seal(connection, draft))

    async def act(scope: StepScope) -> Json:
        scope.detail["tool"] = use.tool
        with showing(studio, run, agent.id, EXECUTING, use.key) if agent else nullcontext():
            execution = await studio.tools.execute(call, policy, on_cancel=stopped)
        _seal(studio, scope, execution)
        made.append(execution.draft)
        if use.is_settled and execution.result is None:
            return {"receipt_id": execution.draft.id, "preview": ""}
        result = execution.unwrap()
        scope.preview = result.preview
        return _pointer(execution)

    async def observe() -> Json:
        return await studio.tools.observe(call)

    async def probe(before: Json) -> Finding:
        finding = await studio.tools.resolve(call, before)
        if isinstance(finding, ToolExecution):
            found.append(finding)
            return Happened()
        return CannotTell() if finding is None else NotHappened()

    async def confirm(scope: StepScope, _value: Json) -> Json:
        if not found:
            found.append(studio.tools.accept(call, "the human said that it had happened"))
        execution = found[-1]
        _seal(studio, scope, execution)
        return _pointer(execution)

    pointer = await run.step(
        use.key,
        act,
        inputs={"tool": use.tool, "args": use.args, "agent": agent_id},
        kind=StepKind.CHECK if use.tool == "definition_of_done" else StepKind.TOOL,
        effect=effect,
        slot=use.slot,
        observe=observe,
        probe=probe,
        confirm=confirm,
    )
    if made:
        draft = made[-1]
        payload = as_payload(json.loads(draft.payload_json))
        full_key = run.key(use.key)
        return ToolOutcome(use.tool, draft.id, payload, draft.summary, draft.preview, full_key)
    await run.durable()
    return _outcome(studio, use.tool, run.key(use.key), pointer)


def _policy(studio: Studio, agent: Agent | None) -> Policy:
    allowed = studio.allowed_tools
    return Policy.for_agent(agent, session_tools=allowed) if agent else Policy(None, allowed)


def _outcome(studio: Studio, tool_id: str, key: str, pointer: Json) -> ToolOutcome:
    receipt_id = _receipt_id(pointer)
    if receipt_id is None:
        # A fork replaced the pointer by the human's own data.
        payload = as_payload(pointer)
        text = pointer if isinstance(pointer, str) else compact_json(pointer)
        return ToolOutcome(tool_id, "", payload, text, text[:200], key)
    receipt = studio.database.read(lambda connection: read_receipt(connection, receipt_id))
    return ToolOutcome(
        tool=tool_id,
        receipt_id=receipt.id,
        payload=as_payload(receipt.payload),
        summary=receipt.summary,
        preview=receipt.preview,
        key=key,
    )


def _receipt_id(pointer: Json) -> str | None:
    return as_payload(pointer).get("receipt_id") if isinstance(pointer, dict) else None


def as_payload(value: Json) -> dict[str, Any]:
    """Return a payload as a mapping, whatever a human put in its place."""
    return cast(dict[str, Any], value) if isinstance(value, dict) else {"value": value}


def _seal(studio: Studio, scope: StepScope, execution: ToolExecution) -> None:
    draft = execution.draft
    scope.receipt_id = draft.id
    scope.in_doubt = draft.outcome is ReceiptOutcome.UNKNOWN
    scope.commit_with(lambda connection: studio.tools.seal(connection, draft))


def _pointer(execution: ToolExecution) -> Json:
    return {"receipt_id": execution.draft.id, "preview": execution.unwrap().preview}
