"""`read_file`: a file, or some of its lines, with the hash of what was read."""

from pydantic import Field

from callboard.tools.builtin.texts import lines_of
from callboard.tools.errors import ToolError
from callboard.tools.result import DryRun, FileRef, ToolResult
from callboard.tools.tool import ToolArgs, ToolContext, tool


class LinesOutOfRange(ToolError):
    """Lines were asked for that the file does not have."""

    code = "line_out_of_range"


class ReadFileArgs(ToolArgs):
    """Which file, and which of its lines."""

    path: str
    start_line: int = Field(1, ge=1)
    end_line: int | None = Field(None, ge=1, description="Included; the last line if left out")


def _plan(context: ToolContext, args: ReadFileArgs) -> DryRun:
    return DryRun(reads=(context.files.resolve(args.path),))


@tool(dry_run=_plan)
def read_file(context: ToolContext, args: ReadFileArgs) -> ToolResult:
    """Read a text file of the project, whole or from one line to another."""
    file = context.files.read_text(args.path)
    lines = lines_of(file.text)
    last = len(lines)
    end = min(args.end_line or last, last)
    is_backwards = args.end_line is not None and args.end_line < args.start_line
    # An empty file has no line 1, and reading it from line 1 is still not a mistake.
    if is_backwards or args.start_line > max(1, last):
        raise LinesOutOfRange(
            f"{file.path} has {last} lines; {args.start_line} to {args.end_line or 'end'}"
            " were asked for",
            fix=f"Ask for lines between 1 and {last}.",
            path=file.path,
        )
    text = "".join(lines[args.start_line - 1 : end])
    span = f"lines {args.start_line}-{end} of {last}"
    return ToolResult(
        {
            "path": file.path,
            "text": text,
            "sha256": file.sha256,
            "start_line": args.start_line,
            "end_line": end,
            "total_lines": last,
        },
        f"{file.path}, {span}",
        f"{file.path}, {span}:\n{text}",
        (FileRef(file.path, file.sha256),),
    )
