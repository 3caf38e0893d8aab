"""The voice report: how far each scene is from the voice that was chosen, and where it strays.

An act whose voice is meant to change is measured against its own scenes as well: what the whole act
shares is its evolution, what one scene does alone is drift. Reports are laid out here as Markdown
pages the writer reads, the continuity audit's too.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Final

from callboard.core.canonical import Json
from callboard.core.words import shorten
from callboard.library.story.text.words import count_words
from callboard.packs.writers_factory.manuscript import BookScene
from callboard.packs.writers_factory.model import Severity
from callboard.packs.writers_factory.prose import distance, measure, scan
from callboard.packs.writers_factory.revision.analysis.quotes import paragraphs_of
from callboard.packs.writers_factory.revision.facts import StoryFacts
from callboard.packs.writers_factory.revision.reports.findings import AuditItem

_DRIFT: Final = 0.12
_FAR: Final = 0.35
_LEAST_PARAGRAPH_WORDS: Final = 40
_OUTLIERS_PER_SCENE: Final = 2
_OUTLIER: Final = 0.1
_MOST_OUTLIERS: Final = 20


@dataclass(frozen=True, slots=True)
class SceneVoice:
    """How one scene sounds; `distance` is None without a gold standard."""

    scene_id: str
    chapter: int
    act: str
    distance: float | None
    verdict: str
    patterns: dict[str, int]


@dataclass(frozen=True, slots=True)
class Outlier:
    """A paragraph that sounds unlike the rest of its scene."""

    scene_id: str
    line: int
    distance: float
    quote: str


@dataclass(frozen=True, slots=True)
class VoiceReport:
    """The whole manuscript, scene by scene and chapter by chapter."""

    scenes: tuple[SceneVoice, ...]
    drift: dict[str, float]
    outliers: tuple[Outlier, ...]
    evolution: dict[str, str]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the shape of the machine file."""
        return {
            "scenes": [asdict(each) for each in self.scenes],
            "drift_by_chapter": [
                {"chapter": int(chapter), "distance": value}
                for chapter, value in self.drift.items()
            ],
            "outliers": [asdict(each) for each in self.outliers],
            "expected_evolution": dict(self.evolution),
            "notes": list(self.notes),
        }


def report_voice(story: StoryFacts, scenes: Sequence[BookScene]) -> VoiceReport:
    """Measure every written scene against the voice."""
    written = [scene for scene in scenes if scene.text.strip()]
    gold = measure(story.voice.gold_text) if story.voice.gold_text.strip() else None
    apart = {
        scene.meta.scene_id: round(distance(gold, measure(scene.text)), 3)
        for scene in written
        if gold is not None
    }
    acts = {scene.meta.scene_id: story.ground_of(scene.meta.scene_id).act for scene in written}
    by_act: dict[str, list[float]] = {}
    for scene_id, value in apart.items():
        by_act.setdefault(acts[scene_id], []).append(value)
    expected = {act: median(values) for act, values in by_act.items()}
    voices = tuple(
        _scene_voice(story, scene, acts[scene.meta.scene_id], apart, expected) for scene in written
    )
    notes = () if gold is not None else ("There is no gold standard: no distance was measured.",)
    return VoiceReport(
        voices, _drift(voices), _outliers(story, written), dict(story.voice.evolution), notes
    )


def _scene_voice(
    story: StoryFacts,
    scene: BookScene,
    act: str,
    apart: dict[str, float],
    expected: dict[str, float],
) -> SceneVoice:
    hits = scan(scene.text, patterns=story.voice.patterns, pov=story.voice.pov)
    value = apart.get(scene.meta.scene_id)
    verdict = "not measured"
    if value is not None:
        verdict = _verdict(value, expected[act], has_evolution=bool(story.voice.evolution.get(act)))
    counts = dict(sorted(Counter(hit.pattern for hit in hits).items()))
    return SceneVoice(scene.meta.scene_id, scene.meta.chapter, act, value, verdict, counts)


def _verdict(value: float, expected: float, *, has_evolution: bool) -> str:
    if value <= _FAR:
        return "drifting" if value > expected + _DRIFT else "in voice"
    # Far from the sample, but where the whole act was meant to go.
    if has_evolution and value <= expected + _DRIFT:
        return "changed with its act"
    return "out of voice"


def _drift(voices: Sequence[SceneVoice]) -> dict[str, float]:
    chapters: dict[int, list[float]] = {}
    for voice in voices:
        if voice.distance is not None:
            chapters.setdefault(voice.chapter, []).append(voice.distance)
    return {str(chapter): round(fmean(values), 3) for chapter, values in sorted(chapters.items())}


def _outliers(story: StoryFacts, scenes: Sequence[BookScene]) -> tuple[Outlier, ...]:
    if not story.voice.gold_text.strip():
        return ()
    gold = measure(story.voice.gold_text)
    found: list[Outlier] = []
    for scene in scenes:
        long = [
            (round(distance(gold, measure(each.quote)), 3), each)
            for each in paragraphs_of(scene.text)
            if count_words(each.quote) >= _LEAST_PARAGRAPH_WORDS
        ]
        if len(long) < 2:
            continue
        usual = median(value for value, _ in long)
        strange = sorted(
            (pair for pair in long if pair[0] > usual + _OUTLIER), key=lambda p: (-p[0], p[1].start)
        )
        found += [
            Outlier(scene.meta.scene_id, each.line, value, each.quote)
            for value, each in strange[:_OUTLIERS_PER_SCENE]
        ]
    return tuple(sorted(found, key=lambda each: (-each.distance, each.scene_id))[:_MOST_OUTLIERS])


AUDIT_PATH: Final = "content/Reports/Continuity_Audit.md"
VOICE_PATH: Final = "content/Reports/Voice_Report.md"
VOICE_DATA_PATH: Final = "content/Reports/Voice_Report.json"
_MOST_QUOTE_CHARS: Final = 400
_BAR: Final = 40


def audit_page(title: str, items: Sequence[AuditItem], notes: Sequence[str] = ()) -> str:
    """Return the continuity audit as a page, by chapter."""
    counts = {level: sum(item.severity is level for item in items) for level in Severity}
    told = ", ".join(f"{counts[level]} {level}" for level in reversed(Severity))
    lines = [f"# Continuity audit: {_line(title)}", "", f"{len(items)} items ({told}).", ""]
    lines += [f"- {note}" for note in notes]
    chapters = sorted({item.chapter for item in items}, key=lambda each: (each == 0, each))
    for chapter in chapters:
        lines += ["", f"## Chapter {chapter}" if chapter else "## The book as a whole", ""]
        for item in items:
            if item.chapter == chapter:
                lines += _item(item)
    return "\n".join(lines).rstrip() + "\n"


def voice_page(title: str, report: VoiceReport) -> str:
    """Return the voice report as a page."""
    lines = [f"# Voice report: {_line(title)}", ""]
    lines += [f"- {note}" for note in report.notes]
    lines += ["", "## Scenes", "", "| scene | act | distance | verdict | patterns |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for voice in report.scenes:
        counted = ", ".join(f"{_cell(name)} {count}" for name, count in voice.patterns.items())
        shown = "" if voice.distance is None else f"{voice.distance:.3f}"
        lines.append(f"| {voice.scene_id} | {voice.act} | {shown} | {voice.verdict} | {counted} |")
    lines += ["", "## Drift by chapter", ""]
    lines += [
        f"- {chapter}: {value:.3f} {'#' * round(value * _BAR)}"
        for chapter, value in report.drift.items()
    ]
    lines += ["", "## Expected evolution", ""]
    lines += [f"- Act {act}: {_line(text)}" for act, text in report.evolution.items()]
    lines += ["", "## Paragraphs that stand out", ""]
    for each in report.outliers:
        lines += [f"{each.scene_id}, line {each.line} ({each.distance:.3f}):", ""]
        lines += [*_quoted(each.quote), ""]
    return "\n".join(lines).rstrip() + "\n"


def _item(item: AuditItem) -> list[str]:
    where = f" {item.scene_id}:" if item.scene_id else ""
    lines = [f"- **{item.severity}** ({item.kind}){where} {_line(item.problem)}"]
    for quote in item.quotes:
        lines += ["", *(f"  {line}" for line in _quoted(quote))]
    return [*lines, "", f"  Fix: {_line(item.fix)}", ""]


def _quoted(text: str) -> list[str]:
    short = shorten(text, _MOST_QUOTE_CHARS, on_top=True)
    return [f"> {line}".rstrip() for line in short.splitlines()]


def _line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")
