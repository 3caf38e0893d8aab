"""An operation an agent asked for, done inside a run: its receipt is sealed with the step."""

from collections.abc import Mapping
from typing import Any

from callboard.choreography.stage import Stage
from callboard.choreography.tool_use import ToolUse, use_tool
from callboard.core.canonical import Json
from callboard.operations import Operation, Operations


async def operate(
    stage: Stage,
    key: str,
    operations: Operations,
    wanted: Operation[..., Any],
    args: Mapping[str, Json],
    *,
    agent: str,
    mode: str = "",
) -> Any:
    """Have done what an agent asked for, if it may; return the result its receipt holds.

    What it may not cause is refused on record, like any other call.
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
