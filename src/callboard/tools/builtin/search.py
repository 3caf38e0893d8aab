"""`search_text`: where something is said, quoted to the letter."""

from pydantic import Field

from callboard.tools.builtin.texts import lines_of, read_texts, selected
from callboard.tools.result import DryRun, FileRef, ToolResult
from callboard.tools.tool import ToolArgs, ToolContext, tool


class SearchTextArgs(ToolArgs):
    """What to look for, and where."""

    text: str = Field(min_length=1, description="Found literally; case is ignored by default")
    glob: str = "**"
    match_case: bool = False
    max_results: int = Field(50, ge=1, le=1000)


def _plan(context: ToolContext, args: SearchTextArgs) -> DryRun:
    return DryRun(reads=tuple(listed.path for listed in selected(context.files, args.glob)))


@tool(dry_run=_plan)
def search_text(context: ToolContext, args: SearchTextArgs) -> ToolResult:
    """Find the lines of the project's text files that contain a text, quoted with line numbers."""
    wanted = args.text if args.match_case else args.text.casefold()
    quotes: list[dict[str, object]] = []
    refs: list[FileRef] = []
    total = 0
    for file in read_texts(context.files, args.glob):
        hits = [
            (number, line.rstrip("\r\n"))
            for number, line in enumerate(lines_of(file.text), start=1)
            if wanted in (line if args.match_case else line.casefold())
        ]
        room = args.max_results - len(quotes)
        if hits[:room]:
            refs.append(FileRef(file.path, file.sha256))
        quotes.extend(
            {"path": file.path, "line_start": number, "line_end": number, "text": line}
            for number, line in hits[:room]
        )
        total += len(hits)
    count = f"{total} line{'' if total == 1 else 's'} found"
    where = f" in {len(refs)} file{'' if len(refs) == 1 else 's'}" if refs else ""
    lines = [f'- {each["path"]} L{each["line_start"]} "{each["text"]}"' for each in quotes]
    return ToolResult(
        {"quotes": quotes, "total": total},
        f"{count}{where}",
        "\n".join([f"{count}{where}{':' if lines else '.'}", *lines]),
        tuple(refs),
    )
