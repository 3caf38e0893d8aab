"""`text_stats`: how long texts are."""

import re
from typing import Final

from pydantic import Field

from callboard.tools.builtin.texts import lines_of
from callboard.tools.files import TextFile
from callboard.tools.result import DryRun, FileRef, ToolResult
from callboard.tools.tool import ToolArgs, ToolContext, tool

_WORD: Final = re.compile(r"\w+(?:['’\-]\w+)*")
_SENTENCE_END: Final = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)]*+(?:\s|\Z)")
_PARAGRAPH_BREAK: Final = re.compile(r"\n\s*\n")


class TextStatsArgs(ToolArgs):
    """Which files to measure."""

    paths: list[str] = Field(min_length=1, max_length=200)


def _plan(context: ToolContext, args: TextStatsArgs) -> DryRun:
    return DryRun(reads=tuple(context.files.resolve(path) for path in args.paths))


@tool(dry_run=_plan)
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
