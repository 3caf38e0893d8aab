"""`definition_of_done`: puts the outcome of code's checks on record."""

from pydantic import Field

from callboard.tools.result import ToolResult
from callboard.tools.tool import ToolArgs, ToolContext, tool


class DefinitionOfDoneArgs(ToolArgs):
    """What was checked, and whether it holds."""

    checks: dict[str, bool] = Field(min_length=1, max_length=200)


@tool(for_machinery=True)
def definition_of_done(_context: ToolContext, args: DefinitionOfDoneArgs) -> ToolResult:
    """Record which checks of a definition of done are met."""
    failed = [name for name, met in args.checks.items() if not met]
    lines = [f"- {'met' if met else 'NOT met'}: {name}" for name, met in args.checks.items()]
    head = f"{len(args.checks) - len(failed)} of {len(args.checks)} checks are met"
    return ToolResult(
        {"checks": dict(args.checks), "done": not failed}, head, "\n".join([head, *lines])
    )
