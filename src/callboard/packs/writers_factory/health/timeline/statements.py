"""What texts and rules state of time: when a scene is, how long a way takes, what was lost when."""

import re
from calendar import day_name, month_name
from dataclasses import dataclass
from datetime import date
from typing import Final

from callboard.packs.writers_factory.health.view import ManuscriptView
from callboard.packs.writers_factory.model import scene_id

_PARTS: Final = {
    # Hours since midnight; a night reaches into the next day.
    "before dawn": (3, 6),
    "dawn": (4, 8),
    "sunrise": (4, 8),
    "morning": (5, 12),
    "midday": (11, 14),
    "noon": (11, 14),
    "afternoon": (12, 18),
    "dusk": (16, 22),
    "sunset": (16, 22),
    "evening": (17, 23),
    "midnight": (23, 25),
    "night": (19, 30),
}
_MONTHS: Final = tuple(name.casefold() for name in month_name if name)
_WEEKDAYS: Final = tuple(name.casefold() for name in day_name)
_ISO: Final = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_DAY: Final = re.compile(r"\bday (\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten)\b")
_MONTH: Final = re.compile(
    rf"\b(?:({'|'.join(_MONTHS)}) (\d{{1,2}})|(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?"
    rf"({'|'.join(_MONTHS)}))\b(?:,? (\d{{4}}))?"
)
_CLOCK: Final = re.compile(r"\b(\d{1,2})(?::(\d{2}))?\s*(am|pm)\b|\b(\d{1,2}):(\d{2})\b")
_PART: Final = re.compile(rf"\b({'|'.join(sorted(_PARTS, key=len, reverse=True))})s?\b")
_WORDS: Final = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class StoryTime:
    """A day of one calendar, and the hours of it that are meant."""

    text: str
    # Days are only counted within one calendar: story days, dates, days of a year, weekdays.
    calendar: str = ""
    day: int | None = None
    start_hour: float = 0.0
    end_hour: float = 24.0
    has_hours: bool = False

    @property
    def is_dated(self) -> bool:
        """Whether it says on which day."""
        return self.day is not None

    @property
    def is_countable(self) -> bool:
        """Whether the days between it and another of its calendar are known."""
        return self.is_dated and self.calendar != "weekday"


def read_time(text: str) -> StoryTime:
    """Read a note of when a scene takes place."""
    said = " ".join(text.casefold().replace("–", "-").split()).strip(" .")
    calendar, day = _day_of(said)
    hours = _hours_of(said)
    start, end = hours or (0.0, 24.0)
    return StoryTime(said, calendar, day, start, end, hours is not None)


def is_same_time(first: StoryTime, second: StoryTime) -> bool:
    """Say whether two notes mean the same part of the same day."""
    if not first.text or not second.text:
        return False
    if first.is_dated and second.is_dated:
        is_same_day = (first.calendar, first.day) == (second.calendar, second.day)
        return is_same_day and first.has_hours and second.has_hours and _overlap(first, second)
    # Words alone mean the same time when they are the same, and more than "night".
    return first.text == second.text and len(first.text.split()) > 1 and not first.is_dated


def is_before(first: StoryTime, second: StoryTime) -> bool | None:
    """Say whether one time is over before another begins; None if nobody can tell."""
    if not (first.is_countable and second.is_countable and first.calendar == second.calendar):
        return None
    return _hour(first, first.end_hour) <= _hour(second, second.start_hour)


def most_hours_between(first: StoryTime, second: StoryTime) -> float | None:
    """Return how many hours can lie between two times at most; None if nobody can tell."""
    if not (first.is_countable and second.is_countable and first.calendar == second.calendar):
        return None
    return abs(_hour(second, second.end_hour) - _hour(first, first.start_hour))


def _hour(time: StoryTime, hour: float) -> float:
    return 24 * (time.day or 0) + hour


def _overlap(first: StoryTime, second: StoryTime) -> bool:
    return first.start_hour < second.end_hour and second.start_hour < first.end_hour


def _day_of(said: str) -> tuple[str, int | None]:
    if found := _ISO.search(said):
        try:
            return "date", date(int(found[1]), int(found[2]), int(found[3])).toordinal()
        except ValueError:
            return "", None
    if found := _DAY.search(said):
        word = found[1]
        return "day", _WORDS.index(word) if word in _WORDS else int(word)
    if found := _MONTH.search(said):
        return _month_day(found)
    for number, name in enumerate(_WEEKDAYS):
        if re.search(rf"\b{name}\b", said):
            return "weekday", number
    return "", None


def _month_day(found: re.Match[str]) -> tuple[str, int | None]:
    month = _MONTHS.index(found[1] or found[4]) + 1
    day = int(found[2] or found[3])
    year = found[5]
    try:
        # A leap year holds every day there is.
        ordinal = date(int(year) if year else 2000, month, day).toordinal()
    except ValueError:
        return "", None
    return ("date" if year else "year day"), ordinal


def _hours_of(said: str) -> tuple[float, float] | None:
    if found := _CLOCK.search(said):
        hour = int(found[1] or found[4]) % 24
        minute = int(found[2] or found[5] or 0)
        if found[3]:
            hour = hour % 12 + (12 if found[3] == "pm" else 0)
        at = hour + minute / 60
        return at, at + 1
    if found := _PART.search(said):
        low, high = _PARTS[found[1]]
        return float(low), float(high)
    return None


_SMALL_NUMBERS: Final = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
)
_NUMBERS: Final = {
    **{word: float(number) for number, word in enumerate(_SMALL_NUMBERS, start=1)},
    "a": 1.0,
    "an": 1.0,
    "half a": 0.5,
    "twelve": 12.0,
    "twenty": 20.0,
}
_UNITS: Final = {"minute": 1 / 60, "hour": 1.0, "day": 24.0, "night": 12.0, "week": 168.0}
_DURATION: Final = re.compile(
    rf"\b(?P<count>\d+(?:\.\d+)?|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
    rf"[ -](?:full |whole |long )?(?P<unit>{'|'.join(_UNITS)})s?\b",
    re.IGNORECASE,
)
_PLACE: Final = r"(?:the )?[A-Z][\w’'-]*(?: (?:of |the )?[A-Z][\w’'-]*)*"
_WAY: Final = re.compile(
    rf"\b(?:from (?P<a>{_PLACE}) to (?P<b>{_PLACE})|between (?P<c>{_PLACE}) and (?P<d>{_PLACE})"
    rf"|(?:to|reach|reaches) (?P<e>{_PLACE}) from (?P<f>{_PLACE}))"
)


@dataclass(frozen=True, slots=True)
class TravelRule:
    """Nobody gets from one place to the other in less than so many hours."""

    places: frozenset[str]
    hours: float
    text: str

    def covers(self, first: str, second: str) -> bool:
        """Say whether it is about the way between two places."""
        return self.places == frozenset((place_key(first), place_key(second)))


def read_travel_rule(text: str) -> TravelRule | None:
    """Return what a world rule says about a way; None if it is about something else."""
    way, duration = _WAY.search(text), _DURATION.search(text)
    if way is None or duration is None:
        return None
    ends = [name for name in way.groups() if name]
    count = duration["count"].lower()
    number = _NUMBERS[count] if count in _NUMBERS else float(count)
    places = frozenset(place_key(name) for name in ends)
    if len(places) != 2:
        return None
    return TravelRule(places, number * _UNITS[duration["unit"].lower()], text)


def place_key(name: str) -> str:
    """Return the form in which places are compared."""
    return " ".join(name.casefold().split()).removeprefix("the ").strip(" .,;")


_HOW: Final = r"(?:lost|destroyed|burned|burnt|stolen|sold|smashed|thrown away|left behind|gone)"
_WHERE: Final = r"(?:chapter (?P<chapter>\d+)|ch(?P<ch>\d+)-sc(?P<sc>\d+))"
_SHAPES: Final = tuple(
    re.compile(shape, re.IGNORECASE)
    for shape in (
        rf"(?<![\w’'-])(?:the |his |her |their |my |a )?(?P<thing>[\w’'-]++(?: [\w’'-]++)?)"
        rf"(?: was| is| got| has been| had been|:) {_HOW}\b[^.]{{0,300}}?\b{_WHERE}",
        r"\b(?:lost|loses|lose|destroyed|burned|sold|dropped) (?:the|his|her|their|my|a)"
        rf" (?P<thing>[\w’'-]+(?: [\w’'-]+)?)\b[^.]{{0,300}}?\b{_WHERE}",
    )
)
_LEADING: Final = re.compile(r"^(?:the|his|her|their|my|a|an)\s+", re.IGNORECASE)
_TRAILING: Final = re.compile(r"(?<!\s)\s++(?:in|at|during|since|after|by)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Loss:
    """A thing that is gone after a scene, in the writer's words."""

    thing: str
    scene_id: str
    text: str


def read_losses(view: ManuscriptView) -> tuple[Loss, ...]:
    """Return the losses that corrections tell of, as far as the scene they name is written."""
    found: list[Loss] = []
    for text in view.corrections:
        for shape in _SHAPES:
            match = shape.search(text)
            if match is None:
                continue
            thing = _TRAILING.sub("", _LEADING.sub("", match["thing"]))
            last = _last_scene(view, match)
            if last is not None:
                found.append(Loss(thing, last, text))
            break
    return tuple(found)


def _last_scene(view: ManuscriptView, match: re.Match[str]) -> str | None:
    if match["ch"]:
        named = scene_id(int(match["ch"]), int(match["sc"]))
        return named if named in view.by_id else None
    ids = [scene.scene_id for scene in view.scenes if scene.chapter == int(match["chapter"])]
    return ids[-1] if ids else None
