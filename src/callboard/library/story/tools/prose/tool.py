"""`prose_analyzer`: how one scene is written."""

from pydantic import Field

from callboard.library.story.index import StoryIndex, story_index
from callboard.library.story.thresholds import thresholds
from callboard.library.story.tools.frame import Report, cite, counted, finish, plan
from callboard.library.story.tools.prose.analysis import Analysis, Focus, analyse
from callboard.library.story.tools.scenes import names_in
from callboard.tools import DryRun, ToolArgs, ToolContext, ToolResult, tool


class ProseAnalyzerArgs(ToolArgs):
    """Which scene, and what to look at."""

    scene_path: str = Field(description="The scene, e.g. Story/Scenes/SCN-01-the-gate.md")
    focus: Focus = Field("all", description="What the findings are about; measures are always all")


def _plan(context: ToolContext, args: ProseAnalyzerArgs) -> DryRun:
    return plan([story_index(context).file(args.scene_path).path])


@tool(dry_run=_plan)
def prose_analyzer(context: ToolContext, args: ProseAnalyzerArgs) -> ToolResult:
    """Measure a scene's prose: sentences, pace, dialogue, diction, senses, tense, point of view."""
    index = story_index(context)
    limits = thresholds(context)
    file = index.file(args.scene_path)
    document = index.document(file.path)
    names = names_in(index, file.path)
    found = analyse(document, names, file.pov, limits.prose, args.focus)
    metrics = found.metrics
    preview = (
        f"{file.title}: {counted(metrics['words'], 'word')},"
        f" {counted(metrics['sentences'], 'sentence')} of {metrics['sentence_words']['mean']:.0f}"
        f" words, {metrics['dialogue_ratio']:.0%} dialogue,"
        f" {counted(len(found.findings), 'finding')}"
    )
    return finish(
        index,
        limits,
        Report(
            tool="prose_analyzer",
            preview=preview,
            payload={
                "path": file.path,
                "title": file.title,
                "focus": args.focus,
                "metrics": found.metrics,
                # The whole text, so that whoever reads the payload can quote from it.
                "content": document.text,
            },
            reads=[file.path],
            findings=found.findings,
            details=_details(index, file.path, found),
        ),
    )


def _details(index: StoryIndex, path: str, found: Analysis) -> list[str]:
    metrics = found.metrics
    lengths = metrics["sentence_words"]
    document = index.document(path)
    lines = [
        f"Sentences: mean {lengths['mean']}, median {lengths['median']}, standard deviation"
        f" {lengths['stdev']} words."
    ]
    spoken = sorted(
        (each for each in document.sentences if each.words),
        key=lambda each: (len(each.words), each.start),
    )
    if spoken:
        lines.append(f"Longest: {cite(document.quote(spoken[-1]))}")
        lines.append(f"Shortest: {cite(document.quote(spoken[0]))}")
    pacing = ", ".join(f"{part['mean_words']:.0f}" for part in metrics["pacing"])
    lines.append(f"Words a sentence through the scene: {pacing}.")
    if "tense" not in metrics:
        return [*lines, "Not English: counted only."]
    senses = ", ".join(f"{sense} {count}" for sense, count in metrics["senses"].items())
    pov = metrics["pov"]
    return [
        *lines,
        f"Told in the {metrics['person']} person, {metrics['tense']['majority']} tense; point of"
        f" view: {pov['declared'] or pov['inferred'] or 'unclear'}.",
        f"Senses: {senses}.",
        f"In 1,000 words of narration: {metrics['adverbs']['per_1000']} adverbs,"
        f" {metrics['filter_words']['per_1000']} filter words,"
        f" {metrics['passives']['per_1000']} passives.",
        f"Reading ease {metrics['readability']['flesch_reading_ease']}, grade"
        f" {metrics['readability']['flesch_kincaid_grade']}.",
    ]
