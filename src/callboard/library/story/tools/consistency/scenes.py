"""Scenes as the checks see them: in story order, each with its day and the words that tell it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from callboard.library.story.facts.values.dates import StoryDate, date_in
from callboard.library.story.index import StoryIndex
from callboard.library.story.model import Kind, Quote, StoryFile
from callboard.library.story.text import Document
from callboard.library.story.text.front import read_field

_DATELINE_PARAGRAPHS: Final = 4
_DATELINE_WORDS: Final = 9
_DATE_KEYS: Final = frozenset({"when", "date", "time"})
_PLACE_KEYS: Final = frozenset({"location", "place", "setting"})
_FIELD_LINES: Final = 15
_OPENING_DATE: Final = re.compile(r"^[^.:—–]{3,40}[.:—–]")


@dataclass(frozen=True, slots=True)
class Day:
    """When a scene plays, and where it says so; `is_declared` when not its prose tells it."""

    date: StoryDate
    text: str
    quote: Quote
    is_declared: bool


@dataclass(frozen=True, slots=True)
class SceneText:
    """One of the files to be checked; `place` is where it stands in the story, from 0."""

    file: StoryFile
    document: Document
    place: int
    day: Day | None

    @property
    def is_flashback(self) -> bool:
        """Whether it goes back in time and says so."""
        return self.file.is_flashback

    def declares(self, keys: frozenset[str]) -> Quote | None:
        """Return the line in which the file declares one of some keys."""
        limit = self.document.front_line_count + _FIELD_LINES
        for number, line in enumerate(self.document.lines[:limit], start=1):
            told = read_field(line)
            if told is not None and told[0] in keys:
                return self.document.quote(number)
        return None


def in_story_order(index: StoryIndex, paths: Sequence[str]) -> list[SceneText]:
    """Return the scenes among some files in story order, with their days."""
    wanted = {index.file(path).path for path in paths}
    found: list[SceneText] = []
    for place, file in enumerate(index.scenes):
        if file.path in wanted:
            document = index.document(file.path)
            found.append(SceneText(file, document, place, _day(file, document)))
    return found


def others(index: StoryIndex, paths: Sequence[str]) -> list[StoryFile]:
    """Return the files that are no scenes, in their given order."""
    files = [index.file(path) for path in dict.fromkeys(paths)]
    return [file for file in files if file.kind is not Kind.SCENE]


def place_quote(scene: SceneText) -> Quote | None:
    """Return the line in which a scene declares its place."""
    return scene.declares(_PLACE_KEYS)


def when_quote(scene: SceneText) -> Quote | None:
    """Return the line in which a scene declares its time."""
    return scene.declares(_DATE_KEYS)


def _day(file: StoryFile, document: Document) -> Day | None:
    if file.when is not None:
        scene = SceneText(file, document, 0, None)
        quote, date = when_quote(scene), date_in(file.when)
        return Day(date, file.when, quote, True) if date and quote else None
    return _dateline(document)


def _dateline(document: Document) -> Day | None:
    """Read the line that heads a letter, a diary or a scene: only a date, or one and a stop."""
    for number, paragraph in enumerate(document.paragraphs[:_DATELINE_PARAGRAPHS]):
        text = document.paragraph_text(number)
        opening = _OPENING_DATE.match(text)
        is_short = len(text.split()) <= _DATELINE_WORDS and not text.startswith(("“", '"'))
        told = text if is_short else opening[0] if opening else ""
        date = date_in(told)
        if date is not None and (date.month is not None or date.day_number is not None):
            return Day(date, told.strip(), document.quote(paragraph), False)
    return None
