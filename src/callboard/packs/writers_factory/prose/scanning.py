"""The scanner: where a text does what the sheet warns of. Offline, deterministic, no model."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from callboard.packs.writers_factory.prose.checks import CHECKS, Found
from callboard.packs.writers_factory.prose.expressions import compile_safely
from callboard.packs.writers_factory.prose.reading import Reading
from callboard.packs.writers_factory.prose.sheet import (
    Pattern,
    PatternSeverity,
    PatternSheet,
    base_sheet,
)
from callboard.packs.writers_factory.prose.stylometry import person_in

_MOST_HITS_PER_PATTERN: Final = 200


@dataclass(frozen=True, slots=True)
class PatternHit:
    """One place where a pattern of the sheet occurs, word for word."""

    pattern: str
    severity: PatternSeverity
    offset: int
    end: int
    line: int
    quote: str
    instead: str = ""


def scan(
    text: str, *, patterns: PatternSheet | None = None, pov: str | None = None
) -> tuple[PatternHit, ...]:
    """Return every hit in the order of the text.

    Without a sheet the one every project starts from is used; without a `pov` ("first", "third")
    it is told from the text.
    """
    sheet = base_sheet() if patterns is None else patterns
    reading = Reading(text)
    told_in = pov.lower() if pov else person_in(reading.document)
    hits = [
        _hit(reading, pattern, found)
        for pattern in sheet.patterns
        for found in _limited(_find(reading, pattern, told_in))
    ]
    return tuple(sorted(hits, key=lambda hit: (hit.offset, hit.end, hit.pattern)))


def _find(reading: Reading, pattern: Pattern, pov: str) -> Iterator[Found]:
    if pattern.check:
        yield from CHECKS[pattern.check](reading, pov)
        return
    if not pattern.expression:
        return
    expression = compile_safely(pattern.expression)
    for paragraph in reading.paragraphs:
        told = paragraph.narration if pattern.in_narration_only else paragraph.text
        for hit in expression.finditer(told):
            yield paragraph, hit.start(), hit.end()


def _limited(found: Iterator[Found]) -> Iterator[Found]:
    for _, each in zip(range(_MOST_HITS_PER_PATTERN), found, strict=False):
        yield each


def _hit(reading: Reading, pattern: Pattern, found: Found) -> PatternHit:
    paragraph, start, end = found
    first, last = reading.place(paragraph, start, end)
    return PatternHit(
        pattern=pattern.name,
        severity=pattern.severity,
        offset=first,
        end=last,
        line=reading.line(first),
        quote=reading.text[first:last],
        instead=pattern.instead,
    )
