"""One tool call inside a run: its receipt is sealed in the transaction that records the step."""

from typing import Any, cast

from callboard.choreography.values import ToolOutcome, pack_of
from callboard.core.canonical import Json, compact_json
from callboard.core.vocabulary import ReceiptOutcome, StepKind
from callboard.engine.run import Run
from callboard.engine.scope import CannotTell, Finding, Happened, NotHappened, StepScope
from callboard.studio.studio import Studio
from callboard.tools import Execution, Policy, ReceiptDraft, ToolCall, read_receipt


async def use_tool(
    studio: Studio,
    run: Run,
    key: str,
    tool_id: str,
    args: dict[str, Json],
    agent_id: str | None,
    slot: str,
) -> ToolOutcome:
    """Use a tool once, journal the pointer to its receipt, and return what the receipt holds."""
    tool = studio.tools.registry.get(tool_id)
    agent = studio.repertoire.agent(agent_id, pack_of(run)) if agent_id is not None else None
    allowed = studio.allowed_tools
    policy = Policy.for_agent(agent, session_tools=allowed) if agent else Policy(None, allowed)
    call = ToolCall(
        tool=tool_id,
        args=args,
        session_id=run.session_id,
        run_id=run.id,
        step_key=run.key(key),
        agent_id=agent.id if agent else None,
    )
    # What a probe found, kept for `confirm`, which puts it on record.
    found: list[Execution] = []

    def stopped(draft: ReceiptDraft) -> None:
        # A cancelled step is not journaled, but what was begun leaves its receipt all the same.
        studio.database.submit(lambda connection: studio.tools.seal(connection, draft))

    async def act(scope: StepScope) -> Json:
        scope.detail["tool"] = tool_id
        execution = await studio.tools.execute(call, policy, on_cancel=stopped)
        _seal(studio, scope, execution)
        result = execution.unwrap()
        scope.preview = result.preview
        return _pointer(execution)

    async def probe() -> Finding:
        finding = await studio.tools.resolve(call)
        if isinstance(finding, Execution):
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
        key,
        act,
        inputs={"tool": tool_id, "args": args, "agent": agent_id},
        kind=StepKind.CHECK if tool_id == "definition_of_done" else StepKind.TOOL,
        effect=tool.effect,
        slot=slot,
        probe=probe,
        confirm=confirm,
    )
    return _outcome(studio, tool_id, run.key(key), pointer)


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


def _seal(studio: Studio, scope: StepScope, execution: Execution) -> None:
    draft = execution.draft
    scope.receipt_id = draft.id
    scope.in_doubt = draft.outcome is ReceiptOutcome.UNKNOWN
    scope.commit_with(lambda connection: studio.tools.seal(connection, draft))


def _pointer(execution: Execution) -> Json:
    return {"receipt_id": execution.draft.id, "preview": execution.unwrap().preview}
