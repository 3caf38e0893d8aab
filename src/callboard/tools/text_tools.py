"""Built-in tools that find, read, search and measure the project's text files."""

import io
import re
from typing import Final

from pydantic import Field

from callboard.core.errors import Fault
from callboard.tools.errors import FileMissing, ToolError, Unreadable
from callboard.tools.files import TEXT_SUFFIXES, ListedFile, ProjectFiles, TextFile
from callboard.tools.result import DryRun, FileRef, ToolResult
from callboard.tools.tool import ToolArgs, ToolContext, tool

MAX_TEXT_BYTES: Final = 1_000_000


def selected(files: ProjectFiles, glob: str) -> tuple[ListedFile, ...]:
    """Return the text files that match, sorted by path; very large ones are left out."""
    return tuple(
        listed
        for listed in files.list_files(glob, suffixes=TEXT_SUFFIXES)
        if listed.size_bytes <= MAX_TEXT_BYTES
    )


def read_texts(files: ProjectFiles, glob: str) -> list[TextFile]:
    """Read the text files that match; what is no text, or is gone by now, is left out."""
    texts: list[TextFile] = []
    for listed in selected(files, glob):
        try:
            texts.append(files.read_text(listed.path))
        except (FileMissing, Unreadable):
            continue
    return texts


def lines_of(text: str) -> list[str]:
    """Split a text into lines with their ends, counting the way editors do."""
    return list(io.StringIO(text, newline=""))


def title_of(file: TextFile) -> str:
    """Return the first heading, else the first line that says something, else the file's name."""
    lines = [line.strip() for line in lines_of(file.text)]
    for line in lines:
        if line.startswith("#") and line.lstrip("#").strip():
            return line.lstrip("#").strip()[:120]
    spoken = (line for line in lines if any(char.isalnum() for char in line))
    return next(spoken, file.path.rpartition("/")[2])[:120]


class FindFilesArgs(ToolArgs):
    """What to look for."""

    glob: str = Field("**", description="Which paths, e.g. Story/**/*.md")
    query: str = Field("", description="Words that must all occur in the path or the text")
    max_results: int = Field(50, ge=1, le=500)


def _plan_find(context: ToolContext, args: FindFilesArgs) -> DryRun:
    return DryRun(reads=tuple(listed.path for listed in selected(context.files, args.glob)))


@tool(dry_run=_plan_find)
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


class LinesOutOfRange(ToolError):
    """Lines were asked for that the file does not have."""

    code = "line_out_of_range"
    fault = Fault.UNUSABLE


class ReadFileArgs(ToolArgs):
    """Which file, and which of its lines."""

    path: str
    start_line: int = Field(1, ge=1)
    end_line: int | None = Field(None, ge=1, description="Included; the last line if left out")


def _plan_read(context: ToolContext, args: ReadFileArgs) -> DryRun:
    return DryRun(reads=(context.files.resolve(args.path),))


@tool(dry_run=_plan_read)
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


class SearchTextArgs(ToolArgs):
    """What to look for, and where."""

    text: str = Field(min_length=1, description="Found literally; case is ignored by default")
    glob: str = "**"
    match_case: bool = False
    max_results: int = Field(50, ge=1, le=1000)


def _plan_search(context: ToolContext, args: SearchTextArgs) -> DryRun:
    return DryRun(reads=tuple(listed.path for listed in selected(context.files, args.glob)))


@tool(dry_run=_plan_search)
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


_WORD: Final = re.compile(r"\w+(?:['’\-]\w+)*")
_SENTENCE_END: Final = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)]*+(?:\s|\Z)")
_PARAGRAPH_BREAK: Final = re.compile(r"\n\s*\n")


class TextStatsArgs(ToolArgs):
    """Which files to measure."""

    paths: list[str] = Field(min_length=1, max_length=200)


def _plan_stats(context: ToolContext, args: TextStatsArgs) -> DryRun:
    return DryRun(reads=tuple(context.files.resolve(path) for path in args.paths))


@tool(dry_run=_plan_stats)
def text_stats(context: ToolContext, args: TextStatsArgs) -> ToolResult:
    """Count the words, sentences, paragraphs, lines and characters of text files."""
    files = [context.files.read_text(path) for path in dict.fromkeys(args.paths)]
    measured = [_measure(file) for file in files]
    names = ("words", "sentences", "paragraphs", "lines", "characters")
    totals = {name: sum(int(each[name]) for each in measured) for name in names}
    lines = [
        f"- {each['path']}: {each['words']} words, {each['sentences']} sentences,"
        f" {each['paragraphs']} paragraphs"
        for each in measured
    ]
    head = f"{totals['words']} words in {len(files)} file{'' if len(files) == 1 else 's'}"
    return ToolResult(
        {"files": measured, "totals": totals},
        head,
        "\n".join([f"{head}:", *lines]),
        tuple(FileRef(file.path, file.sha256) for file in files),
    )


def _measure(file: TextFile) -> dict[str, int | str]:
    lines = lines_of(file.text)
    text = "".join(line.rstrip("\r\n") + "\n" for line in lines)
    return {
        "path": file.path,
        "words": len(_WORD.findall(text)),
        "sentences": len(_SENTENCE_END.findall(text)),
        "paragraphs": sum(1 for part in _PARAGRAPH_BREAK.split(text) if part.strip()),
        "lines": len(lines),
        "characters": len(file.text),
    }
