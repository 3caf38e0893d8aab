"""Story times: what a note such as "Day 3, night" says, and whether two of them can be compared.

What cannot be compared is never guessed at.
"""

import re
from calendar import day_name, month_name
from dataclasses import dataclass
from datetime import date
from typing import Final

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
