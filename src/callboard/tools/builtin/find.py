"""`find_files`: which text files there are, by path, title and words."""

from pydantic import Field

from callboard.tools.builtin.texts import read_texts, selected, title_of
from callboard.tools.result import DryRun, FileRef, ToolResult
from callboard.tools.tool import ToolArgs, ToolContext, tool


class FindFilesArgs(ToolArgs):
    """What to look for."""

    glob: str = Field("**", description="Which paths, e.g. Story/**/*.md")
    query: str = Field("", description="Words that must all occur in the path or the text")
    max_results: int = Field(50, ge=1, le=500)


def _plan(context: ToolContext, args: FindFilesArgs) -> DryRun:
    return DryRun(reads=tuple(listed.path for listed in selected(context.files, args.glob)))


@tool(dry_run=_plan)
def find_files(context: ToolContext, args: FindFilesArgs) -> ToolResult:
    """List the project's text files that match a path pattern and contain all words of a query."""
    words = args.query.casefold().split()
    found = [
        each
        for each in read_texts(context.files, args.glob)
        if all(word in each.path.casefold() or word in each.text.casefold() for word in words)
    ]
    shown = found[: args.max_results]
    files = [
        {"path": each.path, "title": title_of(each), "size_bytes": each.size_bytes}
        for each in shown
    ]
    count = f"{len(found)} file{'' if len(found) == 1 else 's'} found"
    preview = f"{count}: {', '.join(each.path for each in shown)}" if shown else count
    lines = [f"- {each['path']}: {each['title']} ({each['size_bytes']} bytes)" for each in files]
    return ToolResult(
        {"files": files, "total": len(found)},
        preview,
        "\n".join([f"{count}:" if lines else f"{count}.", *lines]),
        tuple(FileRef(each.path, each.sha256) for each in shown),
    )
