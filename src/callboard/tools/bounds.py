"""What goes into a tool and comes out of it, held to JSON, to a size and to a time."""

import asyncio
import json
import logging
from collections.abc import Awaitable
from typing import Any, Final, TypeVar, cast

from callboard.core.canonical import Json, canonical_json
from callboard.core.errors import CallboardError
from callboard.tools.errors import InvalidArgs, OutputTooLarge, ToolError, ToolTimeout
from callboard.tools.result import ToolResult
from callboard.tools.tool import DRY_RUN_ARG, Tool

SUMMARY_LIMIT_CHARS: Final = 12_000


_log = logging.getLogger(__name__)


T = TypeVar("T")


async def in_time(tool: Tool, work: Awaitable[T]) -> T:
    """Run a tool's code in time; whatever it raises becomes an error with a code."""
    limit = asyncio.timeout(tool.timeout_seconds)
    try:
        async with limit:
            return await work
    except CallboardError:
        raise
    except Exception as error:
        if isinstance(error, TimeoutError) and limit.expired():
            raise ToolTimeout(
                f"Tool {tool.id} did not finish within {tool.timeout_seconds:g} seconds",
                fix="Give it less to do, or raise its timeout.",
                tool=tool.id,
                timeout_seconds=tool.timeout_seconds,
            ) from error
        _log.warning("tool %s failed", tool.id, exc_info=True)
        told, kind = str(error) or type(error).__name__, type(error).__name__
        raise ToolError(f"Tool {tool.id} failed: {told}", tool=tool.id, type=kind) from error


def split_dry_run(tool: Tool, args: dict[str, Json]) -> tuple[dict[str, Json], bool]:
    """Return the arguments for the tool itself, and whether it is only to say what it would do."""
    if DRY_RUN_ARG not in args or DRY_RUN_ARG in tool.args_model.model_fields:
        return args, False
    wanted = args[DRY_RUN_ARG]
    if not isinstance(wanted, bool):
        raise InvalidArgs(
            f"Tool {tool.id} cannot use these arguments: dry_run must be true or false",
            tool=tool.id,
            keys=[DRY_RUN_ARG],
        )
    if wanted and tool.dry_run is None:
        raise InvalidArgs(
            f"Tool {tool.id} cannot say in advance what it would do (dry_run)",
            fix="Call it without dry_run.",
            tool=tool.id,
            keys=[DRY_RUN_ARG],
        )
    return {name: value for name, value in args.items() if name != DRY_RUN_ARG}, wanted


def checked_result(result: object, tool: Tool) -> ToolResult:
    """Return a result that can be kept; what is no JSON object or too large is an error."""
    tool_id = tool.id
    if not isinstance(result, ToolResult):
        raise ToolError(f"Tool {tool_id} returned {type(result).__name__}, not a ToolResult")
    try:
        payload = clean(result.payload)
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError(f"The payload of tool {tool_id} is not JSON: {error}") from error
    if not isinstance(payload, dict):
        raise ToolError(f"The payload of tool {tool_id} is not a JSON object")
    checked = cast("dict[str, Json]", payload)
    size = len(canonical_json(checked))
    if size > tool.max_output_bytes:
        raise OutputTooLarge(
            f"Tool {tool_id} returned {size} bytes; {tool.max_output_bytes} are allowed",
            fix="Ask for less, or raise tools.max_output_bytes in the settings.",
            tool=tool_id,
        )
    summary = clean(result.summary)
    if len(summary) > SUMMARY_LIMIT_CHARS:
        cut = f"\n… ({len(summary) - SUMMARY_LIMIT_CHARS} more characters in the receipt's payload)"
        summary = summary[:SUMMARY_LIMIT_CHARS] + cut
    return ToolResult(checked, clean(result.preview), summary, result.file_refs)


def clean_args(tool_id: str, args: dict[str, Json]) -> dict[str, Json]:
    """Return arguments as they will be read back; what is no JSON is an error."""
    try:
        return clean(args)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgs(f"The arguments for tool {tool_id[:80]} are not JSON: {error}") from None


def clean(value: Any) -> Any:
    """Return a JSON value as it will be read back; half characters become question marks."""
    text = canonical_json(value)
    if "\\ud" in text:  # half of a character can only be written as an escape
        whole = json.dumps(json.loads(text), ensure_ascii=False)
        return json.loads(whole.encode("utf-8", "replace"))
    return json.loads(text)
