"""An operation done inside a run, for an agent or for the run itself.

Its receipt is sealed with the step.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from callboard.choreography.stage import Stage
from callboard.choreography.tool_use import ToolUse, use_tool
from callboard.core.canonical import Json
from callboard.core.vocabulary import Receipt
from callboard.operations import Operation, Operations, Refusal
from callboard.tools import Policy, read_receipt

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Attempt:
    """How something an agent asked for ended: what its receipt says, and the result, if any."""

    receipt: Receipt
    result: Any = None


async def operate(
    stage: Stage,
    key: str,
    operations: Operations,
    wanted: Operation[..., Any],
    args: Mapping[str, Json],
    *,
    agent: str | None,
    mode: str = "",
) -> Any:
    """Have done what an agent asked for, if it may; return the result its receipt holds.

    What it may not cause is refused on record, like any other call. Without an agent it is what
    the user started the run for, and is done in the user's name.
    """
    use = ToolUse(
        key=key,
        tool=operations.register(wanted),
        args=dict(args),
        slot=stage.run.key(key),
        agent_id=agent,
        policy=operations.rights(wanted, agent, mode),
    )
    outcome = await use_tool(stage.studio, stage.run, use)
    return operations.result(wanted, outcome.payload)


async def carry_out(
    stage: Stage,
    key: str,
    operations: Operations,
    wanted: Operation[P, R],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> R:
    """Do in a run what the user started it for, in the user's name."""
    values = dict(zip(wanted.arguments.model_fields, args, strict=False)) | kwargs
    given = operations.given(wanted, values)
    return await operate(stage, key, operations, wanted, given, agent=None)


async def attempt(
    stage: Stage,
    key: str,
    operations: Operations,
    wanted: Operation[..., Any],
    args: Mapping[str, Json],
    *,
    agent: str,
    mode: str = "",
) -> Attempt:
    """Have done what an agent asked for; what fails or is refused is an answer, not an error."""
    tool, rights = operations.register(wanted), operations.rights(wanted, agent, mode)
    receipt = await _settle(stage, key, tool, args, rights)
    payload: Any = receipt.payload
    return Attempt(receipt, None if receipt.error else operations.result(wanted, payload))


async def refuse(
    stage: Stage, key: str, tool: str, args: Mapping[str, Json], *, agent: str, why: str
) -> Receipt:
    """Put on record that an agent asked for something that was not done, and why."""
    return await _settle(stage, key, tool, args, Refusal(agent_id=agent, why=why))


async def _settle(
    stage: Stage, key: str, tool: str, args: Mapping[str, Json], policy: Policy
) -> Receipt:
    use = ToolUse(
        key=key,
        tool=tool,
        args=dict(args),
        slot=stage.run.key(key),
        agent_id=policy.agent_id,
        policy=policy,
        is_settled=True,
    )
    outcome = await use_tool(stage.studio, stage.run, use)
    return stage.studio.database.read(lambda c: read_receipt(c, outcome.receipt_id))
