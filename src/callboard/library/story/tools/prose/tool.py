"""`prose_analyzer`: how one scene is written; every measure and every finding put together."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from pydantic import Field

from callboard.core.canonical import Json
from callboard.library.story.index import StoryIndex, story_index
from callboard.library.story.model import StoryFinding
from callboard.library.story.text.document import Document
from callboard.library.story.text.sentences import Sentence
from callboard.library.story.text.words import words_of
from callboard.library.story.thresholds import ProseThresholds, thresholds
from callboard.library.story.tools.prose import diction, minds, rhythm, voice
from callboard.library.story.tools.prose.voice import Narration, narration_of
from callboard.library.story.tools.report import (
    SceneNames,
    ToolReport,
    cite,
    counted,
    finish,
    identified,
    names_in,
    plan,
)
from callboard.tools import DryRun, ToolArgs, ToolContext, ToolResult, tool

_VOWELS: Final = re.compile(r"[aeiouy]+")
_SILENT_ENDING: Final = re.compile(r"(?:[^aeiouylscxzgh]es|[^aeiouydt]ed|[^aeiouyl]e)$")
Focus = Literal["pacing", "voice", "rhythm", "all"]


def readability(words: Sequence[str], sentence_count: int) -> dict[str, float]:
    """Return reading ease (higher is easier) and school grade."""
    if not words or not sentence_count:
        return {"flesch_reading_ease": 0.0, "flesch_kincaid_grade": 0.0}
    words_per_sentence = len(words) / sentence_count
    syllables_per_word = sum(syllables(word) for word in words) / len(words)
    ease = 206.835 - 1.015 * words_per_sentence - 84.6 * syllables_per_word
    grade = 0.39 * words_per_sentence + 11.8 * syllables_per_word - 15.59
    return {"flesch_reading_ease": round(ease, 1), "flesch_kincaid_grade": round(grade, 1)}


@cache
def syllables(word: str) -> int:
    """Estimate the syllables of a lower-cased English word."""
    groups = len(_VOWELS.findall(word))
    if groups > 1 and _SILENT_ENDING.search(word):
        groups -= 1
    return max(1, groups)


@dataclass(frozen=True, slots=True)
class Analysis:
    """What was measured and what was noticed."""

    metrics: dict[str, Json]
    findings: tuple[StoryFinding, ...]


def analyse(
    document: Document,
    names: SceneNames,
    pov: str | None,
    limits: ProseThresholds,
    focus: Focus = "all",
) -> Analysis:
    """Measure a scene; text that is not English is counted, and nothing more."""
    narration = narration_of(document)
    lengths = rhythm.lengths_of(document.sentences)
    segments = rhythm.segments_of(document.sentences, limits.pacing_segments)
    metrics = _structure(document, lengths, segments)
    if not document.is_english:
        return Analysis(metrics, ())
    reading = _EnglishReading(narration, names, pov, limits)
    metrics |= reading.metrics()
    findings: list[StoryFinding] = []
    if focus in ("pacing", "all"):
        findings += rhythm.pace(document, segments, lengths, limits)
    if focus in ("rhythm", "all"):
        findings += rhythm.long_sentences(document, limits)
        findings += rhythm.monotony(document, lengths, limits)
        findings += rhythm.opener_runs(narration, limits)
    if focus in ("voice", "all"):
        findings += reading.findings()
    return Analysis(metrics, identified("prose_analyzer", findings))


class _EnglishReading:
    """What needs English: diction, echoes, tense, person and point of view."""

    def __init__(
        self, narration: Narration, names: SceneNames, pov: str | None, limits: ProseThresholds
    ) -> None:
        self._document = narration.document
        self._narration = narration
        self._limits = limits
        self._declared_pov = pov
        self._tallies = {
            "adverbs": diction.adverbs(narration, names.words),
            "filter_words": diction.filter_words(narration, names.words),
        }
        self._passives = diction.passives(narration)
        self._echoes = diction.echoes(narration, names.words, limits)
        person, self._signals = voice.person_of(narration)
        self._person: voice.Person = person
        self._tenses = voice.tenses_of(narration, self._person, names.words)
        self._minds = minds.minds_of(narration, names.people, self._person)
        self._pov = minds.point_of_view(pov, self._minds, self._person, limits.mind_share)

    def findings(self) -> Iterator[StoryFinding]:
        narration, limits = self._narration, self._limits
        yield from diction.too_many(narration, self._tallies, limits)
        yield from diction.tell_echoes(narration, self._echoes, limits)
        yield from voice.mixed_tense(narration, self._tenses, limits)
        yield from minds.pov_slips(narration, self._minds, self._pov, self._person, limits)

    def metrics(self) -> dict[str, Json]:
        words = [word for sentence in self._document.sentences for word in sentence.words]
        spoken = len(self._document.sentences)
        return {
            "narration_words": self._narration.word_count,
            "adverbs": self._tally(self._tallies["adverbs"]),
            "filter_words": self._tally(self._tallies["filter_words"]),
            "passives": self._tally(self._passives),
            "repeated_words": [
                {"word": echo.word, "times_in_window": echo.times, "times_in_all": echo.total}
                for echo in self._echoes[:10]
            ],
            "senses": diction.senses(self._narration),
            "tense": {
                "majority": self._tenses.majority,
                "past": len(self._tenses.past),
                "present": len(self._tenses.present),
                "asides": len(self._tenses.asides),
            },
            "person": self._person,
            "pov": {
                "declared": self._declared_pov,
                "inferred": self._pov,
                "pronouns": self._signals,
                "minds": self._count_minds(),
            },
            "readability": readability(words, spoken),
        }

    def _tally(self, tally: diction.Tally) -> dict[str, Json]:
        rate = 1000 * tally.count / max(self._narration.word_count, 1)
        return {
            "count": tally.count,
            "per_1000": round(rate, 2),
            "most_used": [{"word": word, "times": times} for word, times in tally.top()],
        }

    def _count_minds(self) -> dict[str, Json]:
        counts: dict[str, Json] = {}
        for mind in self._minds:
            counts[mind.subject] = counts.get(mind.subject, 0) + 1
        return counts


def _structure(
    document: Document, lengths: rhythm.Lengths, segments: tuple[rhythm.PaceSegment, ...]
) -> dict[str, Json]:
    spoken = sum(len(words_of(each.dialogue)) for each in document.sentences if each.has_dialogue)
    return {
        "words": document.word_count,
        "sentences": len(lengths.counts),
        "paragraphs": len(document.paragraphs),
        "sentence_words": {
            "mean": round(lengths.mean, 2),
            "median": lengths.median,
            "stdev": round(lengths.stdev, 2),
            "longest": _measured(document, lengths.longest),
            "shortest": _measured(document, lengths.shortest),
        },
        "dialogue_ratio": round(spoken / max(document.word_count, 1), 3),
        "pacing": [
            {
                "part": number,
                "sentences": len(segment.sentences),
                "mean_words": round(segment.mean_words, 2),
                "dialogue_share": round(segment.dialogue_share, 3),
                "line_start": segment.sentences[0].line_start,
                "line_end": segment.sentences[-1].line_end,
            }
            for number, segment in enumerate(segments, start=1)
        ],
    }


def _measured(document: Document, sentence: Sentence | None) -> dict[str, Any] | None:
    if sentence is None:
        return None
    return {"words": len(sentence.words), "quote": document.quote(sentence).to_json()}


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
        ToolReport(
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
