"""One scene on the curve: its hits, its score and the sentences that carry them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from callboard.library.story.index import OutlineEntry
from callboard.library.story.model import Quote, StoryFile
from callboard.library.story.text.document import Document
from callboard.library.story.thresholds import StakesThresholds
from callboard.library.story.tools.stakes.curve import Level, Stop, levels_of, raw_of
from callboard.library.story.tools.stakes.hits import SceneHits, line_hits


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of text that is measured: a scene file, or a scene's entry in the outline."""

    path: str
    title: str
    declared_stakes: str | None
    document: Document
    hits: SceneHits
    # What to show where nothing was hit; None where there is no text at all.
    opening: Quote | None
    # The lines of the document that are meant; None for all.
    lines: range | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """A part with its place on the curve."""

    part: Part
    level: Level
    quotes: tuple[Quote, ...]

    @property
    def stop(self) -> Stop | None:
        """The part as findings take it, or None where there is nothing to quote or to measure."""
        if self.part.opening is None or not self.part.document.is_english:
            return None
        hits = self.part.hits
        return Stop(self.part.title, self.level, hits.word_count, self.quotes, self.part.opening)

    def to_json(self) -> dict[str, Any]:
        """Return the shape payloads hold."""
        hits = self.part.hits
        return {
            "path": self.part.path,
            "title": self.part.title,
            "word_count": hits.word_count,
            "external": hits.total.external,
            "internal": hits.total.internal,
            "pressure": hits.total.pressure,
            "raw": round(self.level.raw, 3),
            "score": round(self.level.score, 1),
            "escalation": self.level.escalation,
            "declared_stakes": self.part.declared_stakes,
            "quotes": [quote.to_json() for quote in self.quotes],
            "language_supported": self.part.document.is_english,
        }


def scene_part(file: StoryFile, document: Document, hits: SceneHits) -> Part:
    """Return a scene file as a part."""
    sentences = document.sentences
    opening = document.quote(sentences[0]) if sentences else None
    return Part(file.path, file.title, file.stakes, document, hits, opening)


def entry_part(entry: OutlineEntry, document: Document) -> Part:
    """Return a scene's entry in the outline as a part."""
    lines = range(entry.line_start, entry.line_end + 1)
    return Part(
        document.path,
        entry.title,
        entry.fields.get("stakes"),
        document,
        line_hits(document, lines),
        document.quote(entry.line_start),
        lines,
    )


def measure(parts: Sequence[Part], limits: StakesThresholds) -> tuple[Measured, ...]:
    """Put parts on one curve."""
    raws = [raw_of(part.hits.total, part.hits.word_count, limits) for part in parts]
    return tuple(
        Measured(part, level, _top_quotes(part, limits))
        for part, level in zip(parts, levels_of(raws, limits), strict=True)
    )


def _top_quotes(part: Part, limits: StakesThresholds) -> tuple[Quote, ...]:
    # Of equals the earlier comes first: sorting keeps their order.
    ranked = sorted(part.hits.places, key=lambda each: -raw_of(each[1], 1000, limits))
    return tuple(part.document.quote(each) for each, _ in ranked[: limits.quotes_per_scene])
