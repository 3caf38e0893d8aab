"""`reader_experience_simulator`: what the story does to somebody who reads it in order."""

from collections.abc import Sequence

from pydantic import Field

from callboard.library.story.index import StoryIndex, story_index
from callboard.library.story.model import StoryFile
from callboard.library.story.thresholds import StakesThresholds, thresholds
from callboard.library.story.tools.reader.mood import assess
from callboard.library.story.tools.reader.simulation import Simulation, read_scene, simulate
from callboard.library.story.tools.report import (
    PerDocument,
    ToolReport,
    counted,
    finish,
    identified,
    plan,
    scenes_asked_for,
)
from callboard.library.story.tools.stakes.curve import measure, scene_part
from callboard.library.story.tools.stakes.hits import scene_hits
from callboard.library.story.tools.stakes.threads import (
    Theme,
    ThemePassage,
    thread_findings,
    thread_of,
)
from callboard.tools import DryRun, ToolArgs, ToolContext, ToolResult, tool


class ReaderExperienceArgs(ToolArgs):
    """Which scenes, in reading order, and which themes to listen for."""

    scene_paths: tuple[str, ...] = Field((), description="All scenes in story order if left out")
    themes: tuple[str | Theme, ...] = Field((), max_length=50)


def _plan(context: ToolContext, args: ReaderExperienceArgs) -> DryRun:
    return plan(file.path for file in scenes_asked_for(story_index(context), args.scene_paths))


@tool(dry_run=_plan)
def reader_experience_simulator(context: ToolContext, args: ReaderExperienceArgs) -> ToolResult:
    """Read the scenes in order and tell what a reader knows, expects, feels and stumbles over."""
    index = story_index(context)
    limits = thresholds(context)
    files = scenes_asked_for(index, args.scene_paths)
    documents = [index.document(file.path) for file in files]
    read = context.kept.get("story readings", lambda: PerDocument(read_scene))
    tensions = _tensions(context, index, files, limits.stakes)
    simulation = simulate(
        index,
        files,
        [read.of(document) for document in documents],
        tensions,
        limits.reader,
    )
    passages = [ThemePassage(document) for document in documents]
    threads = [thread_of(theme, passages, limits.stakes) for theme in args.themes]
    findings = identified(
        "reader_experience_simulator", [*simulation.findings, *thread_findings(threads)]
    )
    flow = assess(findings, limits.reader, scenes=len(files))
    return finish(
        index,
        limits,
        ToolReport(
            tool="reader_experience_simulator",
            preview=f"{counted(len(files), 'scene')} read: {flow},"
            f" {counted(len(findings), 'finding')}"
            if files
            else "Not checked: the folder holds no scene that could be read",
            payload={
                "flow_assessment": flow,
                "states": [state.to_json() for state in simulation.states],
                "known_entities": [each.to_json() for each in simulation.known],
                "questions": [
                    {
                        "scene": each.asked.scene,
                        "taken_up_in": each.taken_up,
                        "quote": documents[each.asked.scene].quote(each.asked.sentence).to_json(),
                    }
                    for each in simulation.questions
                ],
                "threads": [thread.to_json() for thread in threads],
            },
            reads=[file.path for file in files],
            findings=findings,
            details=_details(simulation),
        ),
    )


def _tensions(
    context: ToolContext,
    index: StoryIndex,
    files: Sequence[StoryFile],
    limits: StakesThresholds,
) -> list[float]:
    hits = context.kept.get("story stakes", lambda: PerDocument(scene_hits))
    parts = [
        scene_part(file, index.document(file.path), hits.of(index.document(file.path)))
        for file in files
    ]
    return [each.level.score for each in measure(parts, limits)]


def _details(simulation: Simulation) -> list[str]:
    lines = ["The reader, scene by scene:"] if simulation.states else []
    for number, state in enumerate(simulation.states, start=1):
        new = f", new: {', '.join(state.new_names[:6])}" if state.new_names else ""
        mood = (
            f"tension {state.tension:.0f}, mood {state.sentiment:+.2f}"
            if state.tension is not None and state.sentiment is not None
            else "not English: counted only"
        )
        open_questions = counted(state.questions_open, "open question")
        lines.append(f"{number}. {state.title}: {mood}, {open_questions}{new}")
    return lines
