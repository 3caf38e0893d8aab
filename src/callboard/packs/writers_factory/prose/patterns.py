"""The anti-pattern sheet, a table writers read, and the scanner that obeys it. Offline, no model.

A row is `pattern | regex or description | severity | why | instead`. What stands in backticks is
matched, `check: name` turns a check of the scanner on, anything else is for people and models.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Final

from callboard.core.errors import CallboardError
from callboard.packs.writers_factory.prose.checks import CHECKS, Found
from callboard.packs.writers_factory.prose.expressions import compile_safely
from callboard.packs.writers_factory.prose.reading import ProseReading
from callboard.packs.writers_factory.prose.stylometry import person_in

COLUMNS: Final = ("pattern", "regex or description", "severity", "why", "instead")
_ROW: Final = re.compile(r"^[ \t]*\|(.*)\|[ \t]*$")
_CELL: Final = re.compile(r"(?:\\.|[^|\\])*")
_RULE: Final = re.compile(r"[\s:|-]+")
_MATCHED: Final = re.compile(r"`{1,2}[ ]?(?P<expression>.+?)[ ]?`{1,2}(?P<where>.*)")
_CHECK: Final = re.compile(r"check:\s*(?P<name>[a-z_]+)", re.IGNORECASE)
_NARRATION: Final = re.compile(r"\bnarration\b", re.IGNORECASE)


class PatternSeverity(StrEnum):
    """What a hit costs."""

    ZERO_TOLERANCE = "zero_tolerance"
    DEDUCTION = "deduction"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One row: `expression` is matched, `check` is a check of the scanner, or neither is set."""

    name: str
    severity: PatternSeverity = PatternSeverity.DEDUCTION
    expression: str = ""
    check: str = ""
    description: str = ""
    in_narration_only: bool = False
    why: str = ""
    instead: str = ""


@dataclass(frozen=True, slots=True)
class PatternSheet:
    """The rows in order, and what in the table could not be used."""

    patterns: tuple[Pattern, ...] = ()
    problems: tuple[str, ...] = ()

    def zero_tolerance(self, limit: int | None = None) -> tuple[str, ...]:
        """Return the names of what must not occur at all."""
        names = (p.name for p in self.patterns if p.severity is PatternSeverity.ZERO_TOLERANCE)
        return tuple(names)[:limit]

    def extended(self, more: Iterable[Pattern]) -> "PatternSheet":
        """Return the sheet with further rows; one of a known name takes that one's place."""
        rows = {pattern.name: pattern for pattern in self.patterns}
        rows.update({pattern.name: pattern for pattern in more})
        return replace(self, patterns=tuple(rows.values()))


@cache
def base_sheet() -> PatternSheet:
    """Return the sheet every project starts from."""
    folder = files("callboard.packs.writers_factory") / "prompts" / "guardrails"
    return read_sheet(folder.joinpath("voice_antipatterns.md").read_text(encoding="utf-8"))


def read_sheet(markdown: str) -> PatternSheet:
    """Read the tables of a sheet; a row that cannot be used is named and left out."""
    patterns: list[Pattern] = []
    problems: list[str] = []
    for number, line in enumerate(markdown.splitlines(), start=1):
        cells = _cells(line)
        if cells is None or _is_head(cells):
            continue
        try:
            patterns.append(_pattern(cells))
        except CallboardError as error:
            problems.append(f"line {number}: {error.message}")
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    return PatternSheet(tuple(patterns), tuple(problems))


def write_table(patterns: Sequence[Pattern]) -> str:
    """Return the rows as a table that `read_sheet` reads back."""
    head = [" | ".join(COLUMNS), " | ".join("---" for _ in COLUMNS)]
    rows = [
        " | ".join(_escaped(each) for each in (p.name, _second(p), p.severity, p.why, p.instead))
        for p in patterns
    ]
    return "\n".join(f"| {row} |" for row in (*head, *rows))


def _second(pattern: Pattern) -> str:
    if pattern.expression:
        where = " in narration" if pattern.in_narration_only else ""
        return f"`{pattern.expression}`{where}"
    if pattern.check:
        told = f": {pattern.description}" if pattern.description else ""
        return f"check: {pattern.check}{told}"
    return pattern.description


def _escaped(cell: str) -> str:
    return " ".join(cell.split()).replace("|", r"\|")


def _cells(line: str) -> list[str] | None:
    row = _ROW.match(line)
    if row is None:
        return None
    cells: list[str] = []
    at = 0
    while at <= len(row[1]):
        cell = _CELL.match(row[1], at)
        end = at if cell is None else cell.end()
        cells.append(row[1][at:end].replace(r"\|", "|").strip())
        at = end + 1
    return cells


def _is_head(cells: list[str]) -> bool:
    return cells[0].lower() == COLUMNS[0] or all(_RULE.fullmatch(cell) for cell in cells if cell)


def _pattern(cells: list[str]) -> Pattern:
    if len(cells) < 3 or not cells[0]:
        raise ValueError("a row needs a pattern, what it is, and a severity")
    name, told, severity = cells[:3]
    why, instead = [*cells[3:], "", ""][:2]
    base = Pattern(name, _severity(severity), why=why, instead=instead)
    matched = _MATCHED.fullmatch(told)
    if matched is not None:
        compile_safely(matched["expression"])
        only = _NARRATION.search(matched["where"]) is not None
        return replace(base, expression=matched["expression"], in_narration_only=only)
    check = _CHECK.match(told)
    if check is not None:
        asked = check["name"].lower()
        if asked not in CHECKS:
            raise ValueError(f"there is no check {asked!r}; write one of {', '.join(CHECKS)}")
        rest = told[check.end() :].lstrip(" :")
        return replace(base, check=asked, description=rest)
    return replace(base, description=told)


def _severity(told: str) -> PatternSeverity:
    word = told.strip().lower().replace(" ", "_").replace("-", "_")
    try:
        return PatternSeverity(word)
    except ValueError:
        known = " or ".join(PatternSeverity)
        raise ValueError(f"{told!r} is no severity; write {known}") from None


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
    reading = ProseReading(text)
    told_in = pov.lower() if pov else person_in(reading.document)
    hits = [
        _hit(reading, pattern, found)
        for pattern in sheet.patterns
        for found in _limited(_find(reading, pattern, told_in))
    ]
    return tuple(sorted(hits, key=lambda hit: (hit.offset, hit.end, hit.pattern)))


def _find(reading: ProseReading, pattern: Pattern, pov: str) -> Iterator[Found]:
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


def _hit(reading: ProseReading, pattern: Pattern, found: Found) -> PatternHit:
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
