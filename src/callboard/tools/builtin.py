"""Tools any pack can use: those that look at texts, and here those that write and sign off."""

import difflib
from typing import Final

from pydantic import Field

from callboard.core.canonical import digest_bytes
from callboard.core.vocabulary import Effect
from callboard.tools.errors import FileMissing
from callboard.tools.result import DryRun, FileRef, Probe, ToolResult
from callboard.tools.text_tools import find_files, read_file, search_text, text_stats
from callboard.tools.tool import Tool, ToolArgs, ToolContext, tool


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


_DIFF_LIMIT_LINES: Final = 400


class WriteFileArgs(ToolArgs):
    """What to write, and where."""

    path: str
    content: str
    expected_sha256: str | None = Field(
        None, description="Write only if the file still has this hash, as read_file gave it"
    )


def _plan(context: ToolContext, args: WriteFileArgs) -> DryRun:
    path = context.files.resolve_for_writing(args.path)
    try:
        before, reads = context.files.read_text(path).text, (path,)
    except FileMissing:
        before, reads = "", ()
    diff = list(
        difflib.unified_diff(
            before.splitlines(),
            args.content.splitlines(),
            path if reads else "(new file)",
            path,
            lineterm="",
        )
    )
    cut = len(diff) - _DIFF_LIMIT_LINES
    shown = diff if cut <= 0 else [*diff[:_DIFF_LIMIT_LINES], f"… {cut} more lines"]
    return DryRun(reads, (path,), {"diff": "\n".join(shown)})


def _observe(context: ToolContext, args: WriteFileArgs) -> dict[str, str | None]:
    return {"sha256": context.files.sha256(args.path)}


def _probe(context: ToolContext, args: WriteFileArgs) -> Probe:
    sha256 = digest_bytes(args.content.encode("utf-8"))
    found = context.files.sha256(args.path)
    if found != sha256:
        # A write leaves the old file or the new one. Anything else is somebody's later work: then
        # nobody can tell whether ours came before it, and it must not be written over.
        return Probe(happened=False if context.before == {"sha256": found} else None)
    path, size = context.files.resolve(args.path), len(args.content.encode("utf-8"))
    return Probe(happened=True, result=_result(path, sha256, size, None, None))


@tool(effect=Effect.ONCE, dry_run=_plan, observe=_observe, probe=_probe)
def write_file(context: ToolContext, args: WriteFileArgs) -> ToolResult:
    """Write a text file of the project; what it replaces is kept as a backup."""
    written = context.files.write_text(
        args.path, args.content, expected_sha256=args.expected_sha256
    )
    return _result(
        written.path, written.sha256, written.size_bytes, written.previous_sha256, written.backup
    )


def _result(
    path: str, sha256: str, size_bytes: int, previous_sha256: str | None, backup: str | None
) -> ToolResult:
    preview = f"{path} written ({size_bytes} bytes)"
    kept = f"; the text before is kept in {backup}" if backup else ""
    return ToolResult(
        {
            "path": path,
            "sha256": sha256,
            "size_bytes": size_bytes,
            "previous_sha256": previous_sha256,
            "backup": backup,
        },
        preview,
        preview + kept,
        (FileRef(path, sha256),),
    )


BUILTIN_TOOLS: Final[tuple[Tool, ...]] = (
    definition_of_done,
    find_files,
    read_file,
    search_text,
    text_stats,
    write_file,
)
