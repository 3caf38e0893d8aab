"""`outline_analyzer`: the tool itself: arguments, payload and words."""

from collections import Counter
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Final

from pydantic import Field

from callboard.core.canonical import Json
from callboard.library.story.index import Outline, OutlineEntry, StoryIndex, story_index
from callboard.library.story.index.files import match_files
from callboard.library.story.model import Quote, StoryFile, StoryFinding
from callboard.library.story.thresholds import OutlineThresholds, thresholds
from callboard.library.story.tools.outline.scenes import (
    Matched,
    absence_findings,
    match_target,
    pov_findings,
    pov_of,
    stakes_findings,
)
from callboard.library.story.tools.outline.structure import (
    Subject,
    beat_findings,
    structure_findings,
)
from callboard.library.story.tools.report import ToolReport, cite, counted, finish, plan
from callboard.tools import DryRun, ToolArgs, ToolContext, ToolResult, tool


class OutlineMode(StrEnum):
    """What the findings are about; `structure` is everything."""

    STRUCTURE = "structure"
    BEATS = "beats"
    POV = "pov"
    STAKES = "stakes"


_Judge = Callable[[Subject], Iterator[StoryFinding]]
_JUDGES: Final[dict[OutlineMode, tuple[_Judge, ...]]] = {
    OutlineMode.STRUCTURE: (
        structure_findings,
        beat_findings,
        pov_findings,
        absence_findings,
        stakes_findings,
    ),
    OutlineMode.BEATS: (beat_findings,),
    OutlineMode.POV: (pov_findings, absence_findings),
    OutlineMode.STAKES: (stakes_findings,),
}


class OutlineAnalyzerArgs(ToolArgs):
    """Which outline, what to look at, and which scene a task means."""

    outline_path: str | None = Field(None, description="The project's outline if left out")
    mode: OutlineMode = OutlineMode.STRUCTURE
    target: str | None = Field(
        None, max_length=4_000, description="A task or a scene's path, to find its place"
    )


def _plan(context: ToolContext, args: OutlineAnalyzerArgs) -> DryRun:
    return plan([story_index(context).need_outline(args.outline_path).path])


@tool(dry_run=_plan)
def outline_analyzer(context: ToolContext, args: OutlineAnalyzerArgs) -> ToolResult:
    """Take the outline apart: scenes, beats, points of view, stakes, and what is missing."""
    index = story_index(context)
    limits = thresholds(context)
    sizes = limits.outline
    file = index.need_outline(args.outline_path)
    subject = _subject(index, file, sizes)
    matched = _matched(index, subject, args.target)
    findings = [finding for judge in _JUDGES[args.mode] for finding in judge(subject)]
    outline = subject.outline
    payload: dict[str, Json] = {
        "outline_path": file.path,
        "title": outline.title or file.title,
        "mode": args.mode.value,
        "scenes": [_entry_json(subject, entry) for entry in outline.entries],
        "matched": None if matched is None else matched.to_json(),
        "distribution": _distribution(outline),
    }
    return finish(
        index,
        limits,
        ToolReport(
            tool="outline_analyzer",
            preview=_preview(outline, args.target, matched, len(findings)),
            payload=payload,
            reads=[file.path, *(quote.path for quote in _other_quotes(findings, file.path))],
            findings=findings,
            headline=_headline(subject, args.target, matched),
            details=_details(subject, args.mode),
        ),
    )


def _subject(index: StoryIndex, file: StoryFile, limits: OutlineThresholds) -> Subject:
    outline = index.read_outline(file.path)
    is_own = index.outline is not None and index.outline.path == file.path
    paths = index.outline_matches if is_own else match_files(outline, index.scenes)
    return Subject(
        document=index.document(file.path),
        outline=outline,
        scenes=index.scenes,
        files={at: index.file(path) for at, path in paths.items()},
        tops={scene.path: top for scene in index.scenes if (top := _top(index, scene.path))},
        limits=limits,
    )


def _top(index: StoryIndex, path: str) -> Quote | None:
    document = index.document(path)
    if document.headings:
        return document.quote(document.headings[0].line)
    paragraphs = document.paragraphs
    return document.quote(paragraphs[0].line_start) if paragraphs else None


def _matched(index: StoryIndex, subject: Subject, target: str | None) -> Matched | None:
    if target is None or not target.strip():
        return None
    at = next((at for at, file in subject.files.items() if file.path == target.strip()), None)
    return match_target(subject.outline, target, subject.limits, at)


def _entry_json(subject: Subject, entry: OutlineEntry) -> dict[str, Json]:
    file = subject.files.get(entry.index)
    return {
        "index": entry.index,
        "number": entry.number,
        "title": entry.title,
        "slug": entry.slug,
        "act": entry.act,
        "fields": entry.fields,
        "summary": entry.summary,
        "beats": [{"text": beat.text, "line": beat.line} for beat in entry.beats],
        "lines": [entry.line_start, entry.line_end],
        "quote": subject.quote(entry).to_json(),
        "scene_path": None if file is None else file.path,
    }


def _distribution(outline: Outline) -> dict[str, Json]:
    acts = Counter(entry.act for entry in outline.entries if entry.act)
    povs = Counter(pov for entry in outline.entries if (pov := pov_of(entry)))
    return {
        "acts": {act.title: acts[act.title] for act in outline.acts},
        "pov": dict(sorted(povs.items(), key=lambda item: (-item[1], item[0]))),
    }


def _other_quotes(findings: list[StoryFinding], path: str) -> Iterator[Quote]:
    return (quote for each in findings for quote in each.quotes if quote.path != path)


def _preview(outline: Outline, target: str | None, matched: Matched | None, findings: int) -> str:
    parts = [counted(len(outline.entries), "scene")]
    if target:
        number = None if matched is None else outline.entries[matched.index].number
        if matched is None:
            parts.append("no beat matched")
        else:
            parts.append(f"beat {matched.index + 1 if number is None else number} matched")
    elif outline.acts:
        parts.append(counted(len(outline.acts), "act"))
    parts.append(counted(findings, "finding"))
    return ", ".join(parts)


def _headline(subject: Subject, target: str | None, matched: Matched | None) -> str:
    outline = subject.outline
    line = f"Outline {subject.document.path}: {counted(len(outline.entries), 'scene')}"
    if outline.acts:
        line += f" in {counted(len(outline.acts), 'act')}"
    if target and matched is None:
        return f"{line}. No scene of it matches the target."
    if matched is None:
        return f"{line}."
    entry = outline.entries[matched.index]
    told = [f"{line}. The target is this scene:", *_entry_lines(subject, entry)]
    return "\n".join(told)


def _entry_lines(subject: Subject, entry: OutlineEntry) -> list[str]:
    lines = [f"- {cite(subject.quote(entry))}"]
    told = [f"{key}: {value}" for key, value in entry.fields.items()]
    lines += [f"  {'; '.join(told)}"] if told else []
    lines += [f"  {entry.summary}"] if entry.summary else []
    lines += [f"  * {beat.text} (L{beat.line})" for beat in entry.beats]
    return lines


def _details(subject: Subject, mode: OutlineMode) -> list[str]:
    lines: list[str] = []
    povs: dict[str, int] = _distribution(subject.outline)["pov"]
    if povs:
        lines.append(f"Points of view: {', '.join(f'{name} {n}' for name, n in povs.items())}")
    act: str | None = None
    for entry in subject.entries:
        if entry.act != act:
            act = entry.act
            lines.append(f"{act}:")
        if mode is OutlineMode.BEATS:
            lines += _entry_lines(subject, entry)
            continue
        told = entry.fields.get("stakes") if mode is OutlineMode.STAKES else entry.fields.get("pov")
        lines.append(f"- {cite(subject.quote(entry))}{f': {told}' if told else ''}")
    return lines
