"""A choreography of effects that must happen once, with a ledger that shows how often they did."""

import os
from typing import Any

from callboard.choreography import Stage, choreography
from callboard.core.vocabulary import Effect
from callboard.tools import Probe, ToolArgs, ToolContext, ToolResult, tool


class LineArgs(ToolArgs):
    line: str


def _append(context: ToolContext, line: str) -> ToolResult:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    handle = os.open(context.files.root / "ledger.txt", flags, 0o600)
    try:
        # One write: a line is there or it is not.
        os.write(handle, f"{line}\n".encode())
    finally:
        os.close(handle)
    return ToolResult({"line": line}, f"wrote {line}")


def _look(context: ToolContext, args: LineArgs) -> Probe:
    path = context.files.root / "ledger.txt"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    if args.line not in lines:
        return Probe(happened=False)
    return Probe(happened=True, result=ToolResult({"line": args.line}, f"wrote {args.line}"))


@tool(effect=Effect.ONCE, probe=_look)
def append_checked(context: ToolContext, args: LineArgs) -> ToolResult:
    """Append a line to the ledger; afterwards one can look whether it is there."""
    return _append(context, args.line)


@tool(effect=Effect.ONCE)
def append_blind(context: ToolContext, args: LineArgs) -> ToolResult:
    """Append a line to the ledger; nobody can look afterwards, as with a letter sent."""
    return _append(context, args.line)


@choreography
async def ledger(stage: Stage) -> Any:
    """Write into the ledger one after the other and at once, with a question in between."""
    entry = await stage.ask("entry", "clerk", subject="the ledger")
    await stage.tool("checked", "append_checked", line="checked")
    await stage.tool("blind", "append_blind", line="blind")
    await stage.parallel(
        {
            "one": lambda s: s.tool("checked", "append_checked", line="one"),
            "two": lambda s: s.tool("blind", "append_blind", line="two"),
            "three": lambda s: s.ask("entry", "clerk", subject="a branch"),
        }
    )
    await stage.sleep("nap", 0.005)
    word = await stage.ask_human("word", "What is the last word?")
    await stage.tool("last", "append_checked", line=word)
    await stage.done_when("done", there_is_an_entry=bool(entry.text))
    return {"entry": entry.text, "word": word}
