"""Timeline: scenes in story order, each with its day; days, and ages by birth, that do not add up.

Dates that go backwards, and weekdays, spans and ages that contradict each other.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from callboard.library.story.facts.claims import Attribute, FactClaim
from callboard.library.story.facts.values import (
    WEEKDAYS,
    StoryDate,
    date_in,
    days_later,
    weekday_in,
)
from callboard.library.story.index import StoryIndex
from callboard.library.story.model import FileKind, Quote, Severity, StoryFile, StoryFinding
from callboard.library.story.text import Document
from callboard.library.story.text.front import read_field
from callboard.library.story.tools.report import make_finding

_DATELINE_PARAGRAPHS: Final = 4
_DATELINE_WORDS: Final = 9
_DATE_KEYS: Final = frozenset({"when", "story_time", "story time", "date", "time"})
_PLACE_KEYS: Final = frozenset({"location", "place", "setting"})
_FIELD_LINES: Final = 15
_OPENING_DATE: Final = re.compile(r"^[^.:—–]{3,40}[.:—–]")
TOOL: Final = "consistency_checker"
# Without years, a step back of more months than this is a new year.
_YEAR_TURNS_MONTHS: Final = 6
# From so many steps back on, a story is told in turns and each single one is no news.
_IN_TURNS: Final = 3
_DATED_WEEKDAY: Final = re.compile(
    rf"\b(?P<weekday>{'|'.join(WEEKDAYS)}),? (?:the )?(?P<rest>[^.;!?]{{3,40}})", re.IGNORECASE
)
_SPAN_WITHIN_CHARS: Final = 30


@dataclass(frozen=True, slots=True)
class SceneDay:
    """When a scene plays, and where it says so; `is_declared` when not its prose tells it."""

    date: StoryDate
    text: str
    quote: Quote
    is_declared: bool


@dataclass(frozen=True, slots=True)
class CheckedScene:
    """One of the files to be checked; `place` is where it stands in the story, from 0."""

    file: StoryFile
    document: Document
    place: int
    day: SceneDay | None

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


def in_story_order(index: StoryIndex, paths: Sequence[str]) -> list[CheckedScene]:
    """Return the scenes among some files in story order, with their days."""
    wanted = {index.file(path).path for path in paths}
    found: list[CheckedScene] = []
    for place, file in enumerate(index.scenes):
        if file.path in wanted:
            document = index.document(file.path)
            found.append(CheckedScene(file, document, place, _day(file, document)))
    return found


def others(index: StoryIndex, paths: Sequence[str]) -> list[StoryFile]:
    """Return the files that are no scenes, in their given order."""
    files = [index.file(path) for path in dict.fromkeys(paths)]
    return [file for file in files if file.kind is not FileKind.SCENE]


def place_quote(scene: CheckedScene) -> Quote | None:
    """Return the line in which a scene declares its place."""
    return scene.declares(_PLACE_KEYS)


def when_quote(scene: CheckedScene) -> Quote | None:
    """Return the line in which a scene declares its time."""
    return scene.declares(_DATE_KEYS)


def _day(file: StoryFile, document: Document) -> SceneDay | None:
    if file.when is not None:
        scene = CheckedScene(file, document, 0, None)
        quote, date = when_quote(scene), date_in(file.when)
        return SceneDay(date, file.when, quote, True) if date and quote else None
    return _dateline(document)


def _dateline(document: Document) -> SceneDay | None:
    """Read the line that heads a letter, a diary or a scene: only a date, or one and a stop."""
    for number, paragraph in enumerate(document.paragraphs[:_DATELINE_PARAGRAPHS]):
        text = document.paragraph_text(number)
        opening = _OPENING_DATE.match(text)
        is_short = len(text.split()) <= _DATELINE_WORDS and not text.startswith(("“", '"'))
        told = text if is_short else opening[0] if opening else ""
        date = date_in(told)
        if date is not None and (date.month is not None or date.day_number is not None):
            return SceneDay(date, told.strip(), document.quote(paragraph), False)
    return None


def find_timeline(scenes: Sequence[CheckedScene], opening_sentences: int) -> Iterator[StoryFinding]:
    """Yield what does not add up between the days of scenes in story order."""
    yield from _backwards(scenes)
    for scene in scenes:
        yield from _weekdays(scene)
    yield from _spans(scenes, opening_sentences)


def find_ages(
    scenes: Sequence[CheckedScene],
    claims: Sequence[FactClaim],
    canon: Sequence[FactClaim],
    leeway_years: int,
) -> Iterator[StoryFinding]:
    """Yield the ages that do not follow from a year of birth and the scene's year."""
    births = {
        claim.entity: claim
        for claim in reversed([*canon, *claims])
        if claim.attribute is Attribute.BIRTH_YEAR
    }
    days = {scene.file.path: scene.day for scene in scenes if not scene.is_flashback}
    for claim in claims:
        if claim.attribute is not Attribute.AGE or claim.looks_back or claim.is_canon:
            continue
        born, day = births.get(claim.entity), days.get(claim.quote.path)
        if born is None or day is None or day.date.year is None:
            continue
        age = day.date.year - (born.value.low or 0)
        low, high = claim.value.low or 0, claim.value.high or 0
        if low - leeway_years <= age and age - 1 <= high + leeway_years:
            continue
        yield make_finding(
            TOOL,
            "Timeline",
            Severity.MINOR if claim.is_spoken else Severity.MAJOR,
            f"{claim.entity} is {claim.value.text} in {day.date.year}, but was born in "
            f"{born.value.text} and would be {age}.",
            (claim.quote, born.quote, day.quote),
            suggestion="Change the age, the year of birth or the scene's date.",
            confidence=0.5 if claim.is_spoken else 0.8,
        )


def goes_back(earlier: StoryDate, later: StoryDate) -> bool:
    """Say whether a later scene plays before an earlier one."""
    compared = later.compared_with(earlier)
    if compared is None or compared >= 0:
        return False
    if earlier.year is None and earlier.month is not None and later.month is not None:
        return earlier.month - later.month <= _YEAR_TURNS_MONTHS
    return True


def _backwards(scenes: Sequence[CheckedScene]) -> Iterator[StoryFinding]:
    dated = [scene for scene in scenes if scene.day is not None and not scene.is_flashback]
    steps = [
        (before, after)
        for before, after in pairwise(dated)
        if before.day and after.day and goes_back(before.day.date, after.day.date)
    ]
    if len(steps) >= _IN_TURNS:
        quotes = [scene.day.quote for step in steps[:1] for scene in step if scene.day]
        yield make_finding(
            TOOL,
            "Timeline",
            Severity.INFO,
            f"The dates go back {len(steps)} times in these scenes: the story seems to be told in "
            "turns.",
            quotes,
            suggestion="Mark the scenes that go back with `flashback: true`.",
            confidence=0.6,
        )
        return
    for before, after in steps:
        if before.day and after.day:
            yield _step_back(before, before.day, after, after.day)


def _step_back(
    before: CheckedScene, first: SceneDay, after: CheckedScene, second: SceneDay
) -> StoryFinding:
    declared = first.is_declared and second.is_declared
    return make_finding(
        TOOL,
        "Timeline",
        Severity.MAJOR if declared else Severity.MINOR,
        f"{after.file.title} plays on {second.text}, before {before.file.title} on {first.text}, "
        "which comes earlier in the story.",
        (first.quote, second.quote),
        suggestion=f"Correct one of the dates, or mark {after.file.path} with `flashback: true`.",
        confidence=0.9 if declared else 0.6,
    )


def _weekdays(scene: CheckedScene) -> Iterator[StoryFinding]:
    day = scene.day
    if (
        day is not None
        and (said := weekday_in(day.text))
        and day.date.weekday() not in (None, said)
    ):
        yield _wrong_weekday(said, day.date, day.quote)
    if not scene.document.is_english:
        return
    for sentence in scene.document.sentences:
        for match in _DATED_WEEKDAY.finditer(sentence.text):
            date = date_in(match["rest"])
            full = _completed(date, day) if date else None
            said = match["weekday"].lower()
            if full is not None and full.weekday() not in (None, said):
                yield _wrong_weekday(said, full, scene.document.quote(sentence))


def _completed(date: StoryDate, day: SceneDay | None) -> StoryDate | None:
    """Give a date the scene's year if it is the scene's own day."""
    if date.year is not None:
        return date
    own = day.date if day else None
    if own and own.year is not None and (own.month, own.day) == (date.month, date.day):
        return own
    return None


def _wrong_weekday(said: str, date: StoryDate, quote: Quote) -> StoryFinding:
    was = date.weekday() or ""
    return make_finding(
        TOOL,
        "Timeline",
        Severity.MINOR,
        f"{date.as_date()} was a {was.capitalize()}, not a {said.capitalize()}.",
        (quote,),
        suggestion=f"Write {was.capitalize()}, or another date.",
        confidence=0.9,
    )


def _spans(scenes: Sequence[CheckedScene], opening_sentences: int) -> Iterator[StoryFinding]:
    for before, after in pairwise(scenes):
        if before.day is None or after.day is None or after.place != before.place + 1:
            continue
        passed = after.day.date.days_since(before.day.date)
        if passed is None or passed < 0 or after.is_flashback or not after.document.is_english:
            continue
        for sentence in after.document.sentences[:opening_sentences]:
            span = days_later(sentence.narration[:_SPAN_WITHIN_CHARS])
            if span is None or span[0] == passed:
                continue
            yield make_finding(
                TOOL,
                "Timeline",
                Severity.MINOR,
                f"“{span[1]}” opens {after.file.title}, but {passed} days lie between "
                f"{before.day.text} and {after.day.text}.",
                (after.document.quote(sentence), before.day.quote, after.day.quote),
                suggestion="Correct the span or one of the dates.",
                confidence=0.7,
            )
