"""The outline as a list of scenes with fields and beats. Reads structure, judges nothing.

Scenes are what the author marked most clearly as such: headings or lines `Scene 3: …`, else
headings of the third level, else numbered lists, else table rows, else chapters.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from callboard.core.errors import Fault
from callboard.library.story.index.metadata import numbered_title, read_number
from callboard.library.story.text import Document, TableRow
from callboard.library.story.text.front import read_field
from callboard.library.story.text.markdown import plain_text
from callboard.tools import ToolError

FIELD_KEYS: Final = {
    "pov": "pov",
    "point of view": "pov",
    "location": "location",
    "place": "location",
    "setting": "location",
    "when": "when",
    "date": "when",
    "time": "when",
    "characters": "characters",
    "cast": "characters",
    "stakes": "stakes",
    "goal": "goal",
    "conflict": "conflict",
    "outcome": "outcome",
}
_SUMMARY_KEYS: Final = frozenset({"summary", "synopsis"})
_CONTAINER: Final = re.compile(r"^(?:act|part|book|chapter|ch)\b", re.IGNORECASE)
_BULLET: Final = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_IN_TITLE: Final = re.compile(
    r"(?:(?<!\s)\s++)?+[(\[](?P<key>pov|location|when)\s*+:\s*(?P<value>[^)\]]{1,400})[)\]]", re.I
)
_NUMBER_COLUMNS: Final = frozenset({"#", "no", "no.", "nr", "nr.", "number", "scene"})
_TITLE_COLUMNS: Final = frozenset({"title", "scene title", "name"})
_BEAT_COLUMNS: Final = frozenset({"beat", "beats", "what happens", "events"})
_NOT_SLUG: Final = re.compile(r"[^\w]+")


class NoOutline(ToolError):
    """The project has no outline, or none could be told from the other files."""

    code = "no_outline"
    fault = Fault.STATE


@dataclass(frozen=True, slots=True)
class OutlineBeat:
    """One thing that happens in a scene."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """One scene of the outline; `line_start` to `line_end` is all that is said about it."""

    index: int
    number: int | None
    title: str
    act: str | None
    fields: dict[str, str]
    field_lines: dict[str, int]
    summary: str
    beats: tuple[OutlineBeat, ...]
    line_start: int
    line_end: int

    @property
    def slug(self) -> str:
        """The title as file names hold it."""
        return slug_of(self.title)


@dataclass(frozen=True, slots=True)
class OutlineAct:
    """An act, part or chapter with the line it opens in."""

    title: str
    line: int


@dataclass(frozen=True, slots=True)
class Outline:
    """A parsed outline."""

    title: str
    acts: tuple[OutlineAct, ...]
    entries: tuple[OutlineEntry, ...]


@dataclass(frozen=True, slots=True)
class _Start:
    line: int
    title: str
    number: int | None
    cells: dict[str, str] = field(default_factory=dict[str, str])


def slug_of(text: str) -> str:
    """Return a text as file names hold it."""
    return _NOT_SLUG.sub("-", text.lower().replace("’", "").replace("'", "")).strip("-_")


def read_outline(document: Document) -> Outline:
    """Take an outline apart."""
    starts, acts = _choose(document)
    top = next((each.text for each in document.headings if each.level == 1), "")
    limits = sorted({*(start.line for start in starts), *(act.line for act in acts)})
    limits.append(len(document.lines) + 1)
    entries: list[OutlineEntry] = []
    for index, start in enumerate(starts):
        end = limits[bisect_right(limits, start.line)] - 1
        act = next((act.title for act in reversed(acts) if act.line < start.line), None)
        entries.append(_entry(document, index, start, end, act))
    return Outline(top, acts, tuple(entries))


def _choose(document: Document) -> tuple[list[_Start], tuple[OutlineAct, ...]]:
    acts = tuple(OutlineAct(each.text, each.line) for each in document.headings if each.level == 2)
    ways: tuple[Callable[[Document], list[_Start]], ...] = (
        _scene_headings,
        _scene_lines,
        _third_level,
        _numbered_items,
        _table_rows,
    )
    for way in ways:
        starts = way(document)
        if starts:
            taken = {start.line for start in starts}
            return starts, tuple(act for act in acts if act.line not in taken)
    chapters = [_start(each.text, each.line) for each in document.headings if each.level == 2]
    return chapters, ()


def _start(text: str, line: int) -> _Start:
    number, title, _ = numbered_title(text)
    return _Start(line, title or text, number)


def _scene_headings(document: Document) -> list[_Start]:
    return [
        _start(each.text, each.line)
        for each in document.headings
        if each.level >= 2 and numbered_title(each.text)[2] == "scene"
    ]


def _scene_lines(document: Document) -> list[_Start]:
    starts: list[_Start] = []
    for line in sorted({each.line_start for each in document.items} | _paragraph_lines(document)):
        text = plain_text(_BULLET.sub("", document.lines[line - 1]))
        number, title, label = numbered_title(text)
        if number is not None and title and label == "scene":
            starts.append(_Start(line, title, number))
    return starts if len(starts) > 1 else []


def _paragraph_lines(document: Document) -> set[int]:
    return {
        line for each in document.paragraphs for line in range(each.line_start, each.line_end + 1)
    }


def _third_level(document: Document) -> list[_Start]:
    found = [each for each in document.headings if each.level == 3]
    if all(_CONTAINER.match(each.text) for each in found) and _numbered_items(document):
        return []
    return [_start(each.text, each.line) for each in found]


def _numbered_items(document: Document) -> list[_Start]:
    found = [item for item in document.items if item.number is not None and item.depth == 1]
    return [_Start(item.line_start, numbered_title(item.text)[1], item.number) for item in found]


def _table_rows(document: Document) -> list[_Start]:
    found = [_row_start(row) for row in document.rows]
    return [start for start in found if start is not None]


def _row_start(row: TableRow) -> _Start | None:
    header = [name.lower().strip() for name in row.header]
    named = dict(zip(header, row.cells, strict=False))
    number_key = next((name for name in header if name in _NUMBER_COLUMNS), None)
    title_key = next((name for name in header if name in _TITLE_COLUMNS), number_key)
    if title_key is None:
        return None
    number = read_number(named[number_key]) if number_key is not None else None
    told, title, _ = numbered_title(named[title_key])
    cells = {FIELD_KEYS.get(name, name): cell for name, cell in named.items() if cell}
    return _Start(row.line, title or named[title_key], told if number is None else number, cells)


class _Body:
    """What stands beneath the opening line of a scene, line by line."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}
        self.field_lines: dict[str, int] = {}
        self.beats: list[OutlineBeat] = []
        self.summary: list[str] = []

    def take(self, text: str, line: int) -> None:
        told = read_field(text)
        if told is not None and told[0] in FIELD_KEYS:
            self._field(FIELD_KEYS[told[0]], told[1], line)
        elif told is not None and told[0] in _SUMMARY_KEYS:
            self.summary.append(told[1])
        elif _BULLET.match(text):
            self.beats.append(OutlineBeat(plain_text(_BULLET.sub("", text)), line))
        elif self.beats and text.startswith((" ", "\t")) and text.strip():
            last = self.beats[-1]
            self.beats[-1] = OutlineBeat(f"{last.text} {plain_text(text)}", last.line)
        elif text.strip() and not text.lstrip().startswith(("#", "|")):
            self.summary.append(plain_text(text))

    def _field(self, key: str, value: str, line: int) -> None:
        self.fields.setdefault(key, value)
        self.field_lines.setdefault(key, line)


def _entry(
    document: Document, index: int, start: _Start, end: int, act: str | None
) -> OutlineEntry:
    body = _Body()
    title = start.title
    for hit in _IN_TITLE.finditer(title):
        body.take(f"{hit['key']}: {hit['value']}", start.line)
    title = _IN_TITLE.sub("", title).strip()
    for key, value in start.cells.items():
        body.take(f"{key}: {value}", start.line)
        if key in _BEAT_COLUMNS:
            body.beats = [OutlineBeat(part.strip(), start.line) for part in value.split(";")]
    lines: Sequence[str] = () if start.cells else document.lines[start.line : end]
    for offset, text in enumerate(lines, start=start.line + 1):
        body.take(text, offset)
    last = start.line
    for offset, text in enumerate(lines, start=start.line + 1):
        last = offset if text.strip() else last
    return OutlineEntry(
        index=index,
        number=start.number,
        title=title,
        act=act,
        fields=body.fields,
        field_lines=body.field_lines,
        summary=" ".join(body.summary),
        beats=tuple(body.beats),
        line_start=start.line,
        line_end=last,
    )
