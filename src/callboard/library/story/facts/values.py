"""Values: what a claim claims, brought to one form so that two claims can be compared.

Numbers, colours, heights, days and spans such as "three days later". Refuses to guess: a date
has only the parts that are written.
"""

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from callboard.library.story.lexicon import families_in

_UNITS: Final = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen",
)
_TENS: Final = {
    word: 20 + 10 * place
    for place, word in enumerate(
        re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety")
    )
}
_ORDINALS: Final = re.findall(
    r"\w+",
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth",
)
_TENTHS: Final = {f"{word[:-1]}ieth": number for word, number in _TENS.items()}
_UNIT: Final = "|".join(sorted(_UNITS[1:], key=len, reverse=True))
_TEN: Final = "|".join(_TENS)
_HUNDREDS: Final = rf"(?:a|{'|'.join(_UNITS[1:10])})[ -]hundred(?:(?: and)?[ -](?:{_TEN}|{_UNIT}))?"
# Text of a regular expression that meets any number below a thousand; longest first.
NUMBER: Final = (
    rf"(?:\d{{1,4}}|{_HUNDREDS}|(?:{'|'.join(_UNITS[1:10])})[ -]and[ -](?:{_TEN})"
    rf"|(?:{_TEN})(?:[ -](?:{'|'.join(_UNITS[1:10])}))?|{_UNIT})"
)
ORDINAL: Final = (
    rf"(?:\d{{1,3}}(?:st|nd|rd|th)|(?:{_TEN})[ -](?:{'|'.join(_ORDINALS[1:10])})"
    rf"|{'|'.join([*_TENTHS, *_ORDINALS[1:]])})"
)
_SEPARATORS = re.compile(r"[^a-z]+")
_SHADES = frozenset({"dark", "steel", "slate", "flint", "pewter", "jet", "fair", "olive"})
_CM_PER_INCH: Final = 2.54
_FEET: Final = re.compile(
    rf"({NUMBER})[ -]?(?:feet|foot|ft\.?|['\u2032’])"
    rf"(?:[ ,-]*(?:and )?({NUMBER})(?!\w)(?:[ -]?(?:inches|inch|in\.?|[\"\u2033”]))?"
    r"|( and a half))?",
    re.IGNORECASE,
)
_METRES: Final = re.compile(r"(\d)[.,](\d{1,2}) ?m(?:et(?:re|er)s?)?\b", re.IGNORECASE)
_CENTIMETRES: Final = re.compile(r"(\d{2,3}) ?(?:cm|centimet(?:re|er)s?)\b", re.IGNORECASE)
HEIGHT: Final = (
    rf"(?:\d[.,]\d{{1,2}} ?m(?:et(?:re|er)s?)?\b|\d{{2,3}} ?(?:cm|centimet(?:re|er)s?)\b"
    rf"|{NUMBER}[ -]?(?:feet|foot|ft\.?|['\u2032’])"
    rf"(?:[ ,-]*(?:and )?{NUMBER}(?!\w)(?:[ -]?(?:inches|inch|in\.?|[\"\u2033”]))?| and a half)?)"
)
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


def number_of(text: str) -> int | None:
    """Return the number a text says, in figures or words; None when it says no number."""
    told = text.strip().lower()
    if re.fullmatch(r"\d+", told):
        return int(told)
    match = re.fullmatch(r"(\d+)(?:st|nd|rd|th)", told)
    if match:
        return int(match[1])
    return _words_to_number(re.split(r"[ -]+", told))


def _words_to_number(words: list[str]) -> int | None:
    total = 0
    for word in words:
        if word == "and":
            continue
        if word == "hundred":
            total = max(total, 1) * 100
            continue
        value = _value(word)
        if value is None:
            return None
        total += value
    return total if words else None


def _value(word: str) -> int | None:
    if word == "a":
        return 1
    for listed in (_UNITS, _ORDINALS):
        if word in listed:
            return listed.index(word)
    return _TENS.get(word, _TENTHS.get(word))


@cache
def colour_words(part: str) -> frozenset[str]:
    """Return the colour words known for `eye` or `hair`."""
    return frozenset(_families(part))


def families_of(part: str, text: str) -> frozenset[str]:
    """Return the families of every colour word in a text; empty when it names no colour.

    Of "dark red" only the red counts, and "steel-blue" is blue: the last word of a compound says
    what the words before it shade, unless both are colours of their own ("blue-green").
    """
    known = _families(part)
    words = _SEPARATORS.split(text.lower())
    named = [word for word in words if word in known]
    if len(named) > 1:
        named = [word for word in named if word not in _SHADES]
    return frozenset(family for word in named for family in known[word])


def colour_name(text: str) -> str:
    """Return a colour as it is compared in messages: one spelling, single blanks."""
    return " ".join(text.lower().replace("gray", "grey").split())


@cache
def _families(part: str) -> Mapping[str, frozenset[str]]:
    listed = families_in("facts", f"{part}_colours")
    words = {word for known in listed.values() for word in known}
    return {
        word: frozenset(name for name, known in listed.items() if word in known) for word in words
    }


def centimetres(text: str) -> int | None:
    """Return the height a text tells; None when it tells none or nobody is that tall."""
    found = _metric(text) or _imperial(text)
    return found if found and 30 <= found <= 400 else None


def _metric(text: str) -> int | None:
    if match := _METRES.search(text):
        return int(match[1]) * 100 + int(match[2].ljust(2, "0"))
    if match := _CENTIMETRES.search(text):
        return int(match[1])
    return None


def _imperial(text: str) -> int | None:
    match = _FEET.search(text)
    if not match:
        return None
    feet = number_of(match[1])
    inches = 6 if match[3] else number_of(match[2] or "0")
    if feet is None or inches is None or inches > 11:
        return None
    return round((feet * 12 + inches) * _CM_PER_INCH)


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
