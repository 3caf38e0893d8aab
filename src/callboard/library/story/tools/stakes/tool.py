"""`stakes_mapper`: what can be lost, scene by scene, and what becomes of the story's themes."""

from collections.abc import Sequence

from pydantic import Field, model_validator

from callboard.library.story.index import StoryIndex, story_index
from callboard.library.story.thresholds import thresholds
from callboard.library.story.tools.report import (
    PerDocument,
    ToolReport,
    cite,
    counted,
    finish,
    identified,
    plan,
    scenes_asked_for,
)
from callboard.library.story.tools.stakes.curve import (
    Measured,
    StakesPart,
    curve_findings,
    entry_part,
    measure,
    scene_part,
)
from callboard.library.story.tools.stakes.hits import scene_hits
from callboard.library.story.tools.stakes.threads import (
    Theme,
    ThemePassage,
    ThemeThread,
    thread_findings,
    thread_of,
)
from callboard.tools import DryRun, ToolArgs, ToolContext, ToolResult, tool


class StakesMapperArgs(ToolArgs):
    """Which scenes, or which outline, and which themes to follow."""

    scene_paths: tuple[str, ...] = Field((), description="All scenes in story order if left out")
    outline_path: str | None = Field(None, description="Map the outline instead of the scenes")
    themes: tuple[str | Theme, ...] = Field((), max_length=50)

    @model_validator(mode="after")
    def _is_one_source(self) -> "StakesMapperArgs":
        if self.scene_paths and self.outline_path is not None:
            raise ValueError("give scene_paths or outline_path, not both")
        return self


def _plan(context: ToolContext, args: StakesMapperArgs) -> DryRun:
    index = story_index(context)
    if args.outline_path is not None:
        return plan([index.file(args.outline_path).path])
    return plan(file.path for file in scenes_asked_for(index, args.scene_paths))


@tool(dry_run=_plan)
def stakes_mapper(context: ToolContext, args: StakesMapperArgs) -> ToolResult:
    """Map the stakes of every scene as a curve with quotes, and follow themes through the story."""
    index = story_index(context)
    limits = thresholds(context)
    section = limits.stakes
    parts = _parts(context, index, args)
    measured = measure(parts, section)
    passages = [ThemePassage(part.document, part.lines) for part in parts]
    threads = [thread_of(theme, passages, section) for theme in args.themes]
    stops = [each.stop for each in measured]
    findings = [
        *curve_findings([stop for stop in stops if stop is not None], section),
        *thread_findings(threads),
    ]
    return finish(
        index,
        limits,
        ToolReport(
            tool="stakes_mapper",
            preview=_preview(measured, len(findings)),
            payload={
                "source": "outline" if args.outline_path is not None else "scenes",
                "scenes": [each.to_json() for each in measured],
                "curve": [round(each.level.score, 1) for each in measured],
                "threads": [thread.to_json() for thread in threads],
            },
            reads=[part.path for part in parts],
            findings=identified("stakes_mapper", findings),
            details=[*_curve_lines(measured), *_thread_lines(threads)],
        ),
    )


def _parts(context: ToolContext, index: StoryIndex, args: StakesMapperArgs) -> list[StakesPart]:
    if args.outline_path is not None:
        path = index.need_outline(args.outline_path).path
        document = index.document(path)
        return [entry_part(entry, document) for entry in index.read_outline(path).entries]
    hits = context.kept.get("story stakes", lambda: PerDocument(scene_hits))
    files = scenes_asked_for(index, args.scene_paths)
    documents = [index.document(file.path) for file in files]
    return [
        scene_part(file, document, hits.of(document))
        for file, document in zip(files, documents, strict=True)
    ]


def _preview(measured: Sequence[Measured], findings: int) -> str:
    if not measured:
        return "Not checked: no scene was read"
    scores = ", ".join(f"{each.level.score:.0f}" for each in measured[:20])
    more = ", …" if len(measured) > 20 else ""
    shape = f": {scores}{more}" if measured else ""
    return f"Stakes of {counted(len(measured), 'scene')}{shape}; {counted(findings, 'finding')}"


def _curve_lines(measured: Sequence[Measured]) -> list[str]:
    lines = ["Stakes by scene, 0 to 100:"] if measured else []
    for number, each in enumerate(measured, start=1):
        rise = f", {each.level.escalation}" if each.level.escalation else ""
        declared = f"; declared: {each.part.declared_stakes}" if each.part.declared_stakes else ""
        lines.append(f"{number}. {each.part.title}: {each.level.score:.0f}{rise}{declared}")
        lines += [f"   {cite(quote)}" for quote in each.quotes[:1]]
    return lines


def _thread_lines(threads: Sequence[ThemeThread]) -> list[str]:
    lines: list[str] = []
    for thread in threads:
        lines.append(
            f"Theme “{thread.theme}”: {thread.status.replace('_', ' ')}, heard in"
            f" {counted(len(thread.mentions), 'scene')}."
        )
        lines += [f"   {cite(mention.quote)}" for mention in thread.mentions[:2]]
    return lines
