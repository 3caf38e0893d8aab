"""Dates: what a scene says of its day, and spans such as "three days later".

Refuses to guess: a date is a year, a month and a day, or only the parts that are written.
"""

import datetime
import re
from dataclasses import dataclass
from typing import Final

from callboard.library.story.facts.values.numbers import NUMBER, ORDINAL, number_of

MONTHS: Final = re.findall(
    r"\w+",
    "january february march april may june july august september october november december",
)
WEEKDAYS: Final = re.findall(r"\w+", "monday tuesday wednesday thursday friday saturday sunday")
# Calendars before this were not the one weekdays can be reckoned in.
FIRST_RECKONED_YEAR: Final = 1753

_MONTH: Final = "|".join([*MONTHS, "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sept", "sep"])
_MONTH_NAME: Final = rf"(?P<month>{_MONTH}|oct|nov|dec)\.?"
_DAY: Final = rf"(?P<day>\d{{1,2}}(?:st|nd|rd|th)?|{ORDINAL})"
_YEAR: Final = r"(?P<year>\d{3,4})"
_ISO: Final = re.compile(r"(?<!\d)(?P<year>\d{3,4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?!\d)")
_DAY_FIRST: Final = re.compile(
    rf"\b(?:the )?{_DAY}(?: of)? {_MONTH_NAME}(?:,? (?:of )?{_YEAR})?\b(?!:)", re.IGNORECASE
)
_MONTH_FIRST: Final = re.compile(
    rf"\b{_MONTH_NAME} (?:the )?{_DAY}(?!\d)(?:,? {_YEAR})?(?!:)", re.IGNORECASE
)
_MONTH_YEAR: Final = re.compile(rf"\b{_MONTH_NAME},? {_YEAR}\b", re.IGNORECASE)
_ONLY_YEAR: Final = re.compile(r"^\D{0,12}(?P<year>\d{3,4})\D{0,5}$")
_DAY_NUMBER: Final = re.compile(rf"\bday (?P<count>{NUMBER})\b", re.IGNORECASE)
_WEEKDAY: Final = re.compile(rf"\b({'|'.join(WEEKDAYS)})\b", re.IGNORECASE)
_CLOCK: Final = re.compile(
    r"\b\d{1,2}[:.]\d{2}\b|\b\d{1,2} ?[ap]\.?m\b|\b(?:dawn|morning|noon|midday|afternoon|dusk"
    r"|evening|night|midnight|sunrise|sunset|twilight)\b|T\d{2}",
    re.IGNORECASE,
)
_LATER: Final = re.compile(
    rf"\b(?P<count>{NUMBER}|a) (?P<unit>day|week|fortnight)s? (?:later|afterwards?|had passed)\b"
    r"|\b(?:the )?(?P<next>next|following) (?:day|morning|evening|night|afternoon)\b",
    re.IGNORECASE,
)
_DAYS: Final = {"day": 1, "week": 7, "fortnight": 14}


@dataclass(frozen=True, slots=True, order=True)
class StoryDate:
    """A day of a story as far as it is written; a count of days has neither year nor month."""

    year: int | None
    month: int | None
    day: int | None
    day_number: int | None = None

    def compared_with(self, other: "StoryDate") -> int | None:
        """Return a negative, zero or positive number, or None where the parts do not meet."""
        if self.day_number is not None and other.day_number is not None:
            return self.day_number - other.day_number
        if self.day_number is not None or other.day_number is not None:
            return None
        if (self.year is None) != (other.year is None):
            return None
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            if mine is None and theirs is None:
                continue
            if mine is None or theirs is None:
                return None
            if mine != theirs:
                return mine - theirs
        return 0

    def days_since(self, other: "StoryDate") -> int | None:
        """Return the days between two full dates or two day numbers, else None."""
        if self.day_number is not None and other.day_number is not None:
            return self.day_number - other.day_number
        mine, theirs = self.as_date(), other.as_date()
        return (mine - theirs).days if mine and theirs else None

    def as_date(self) -> datetime.date | None:
        """Return the calendar date when all of it is written and exists."""
        if self.year is None or self.month is None or self.day is None:
            return None
        try:
            return datetime.date(self.year, self.month, self.day)
        except ValueError:
            return None

    def weekday(self) -> str | None:
        """Return the weekday of a full date in the calendar of today, else None."""
        date = self.as_date()
        if date is None or date.year < FIRST_RECKONED_YEAR:
            return None
        return WEEKDAYS[date.weekday()]

    @property
    def parts(self) -> tuple[int | None, int | None, int | None]:
        """Year, month and day."""
        return (self.year, self.month, self.day)


def date_in(text: str) -> StoryDate | None:
    """Return the first date of a text, None when it has none or one that cannot be."""
    for pattern in (_ISO, _DAY_FIRST, _MONTH_FIRST, _MONTH_YEAR):
        if match := pattern.search(text):
            return _date_from(match)
    if match := _DAY_NUMBER.search(text):
        return StoryDate(None, None, None, number_of(match["count"]))
    if match := _ONLY_YEAR.match(text.strip()):
        return StoryDate(int(match["year"]), None, None)
    return None


def weekday_in(text: str) -> str | None:
    """Return the first weekday a text names."""
    match = _WEEKDAY.search(text)
    return match[1].lower() if match else None


def has_clock(text: str) -> bool:
    """Say whether a text tells the time of day."""
    return _CLOCK.search(text) is not None


def days_later(text: str) -> tuple[int, str] | None:
    """Return the span a text moves on by, in days, and its words."""
    match = _LATER.search(text)
    if not match:
        return None
    if match["next"]:
        return 1, match[0]
    count = 1 if match["count"].lower() == "a" else number_of(match["count"])
    return None if count is None else (count * _DAYS[match["unit"].lower()], match[0])


def _date_from(match: re.Match[str]) -> StoryDate | None:
    told = match.groupdict()
    month = _month_number(told["month"])
    day = number_of(told["day"]) if told.get("day") else None
    year = int(told["year"]) if told.get("year") else None
    if month is None or not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31):
        return None
    return StoryDate(year, month, day)


def _month_number(text: str) -> int | None:
    if text.isdigit():
        return int(text)
    starts = text.lower()[:3]
    return next((n for n, name in enumerate(MONTHS, start=1) if name.startswith(starts)), None)
