"""Days and times as people say them, in the user's time zone."""

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from callboard.library.relational.dates import Today

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHORT: Final = {day[:3]: number for number, day in enumerate(_DAYS)} | {
    "tues": 1, "thur": 3, "thurs": 3
}  # fmt: skip
_WEEKDAY: Final = r"(?:mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun)(?:day|sday|nesday|rsday|urday)?"
_MONTHS: Final = {
    name.casefold(): number
    for names in (calendar.month_name, calendar.month_abbr)
    for number, name in enumerate(names)
    if name
}
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_PART_TIMES: Final = {
    "morning": time(9), "noon": time(12), "midday": time(12), "afternoon": time(15),
    "evening": time(18), "tonight": time(18), "night": time(20), "midnight": time(0),
}  # fmt: skip
DAY: Final = (
    rf"(?:today|tonight|tomorrow|(?:the )?day after tomorrow|(?:(?:this|next|on) ){{0,3}}{_WEEKDAY}"
    rf"|in \d{{1,3}} (?:days?|weeks?)|\d{{4}}-\d{{2}}-\d{{2}}"
    rf"|(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})"
    rf"|(?:{_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?)\b(?:'s)?"
)
"""An expression for one day; whether there is such a day is found out by reading it."""
BARE_WEEKDAY: Final = re.compile(rf"(?:on )?{_WEEKDAY}(?:'s)?", re.IGNORECASE)
PERIOD: Final = (
    r"(?:(?:this|next|the|the coming) (?:week(?:end)?|month)|(?:the )?next (?:\d{1,2}|few) days"
    r"|the (?:whole|entire) (?:week|month)|(?:my|our) (?:whole |entire )?(?:week|month))"
)
_TILL: Final = r"\s*(?:to|till|until|through|-|–)\s*"
RANGE: Final = rf"{DAY}{_TILL}{DAY}"
_CLOCK: Final = re.compile(
    r"(?:\bat )?\b(?P<hour>[01]?\d|2[0-3])(?:[:.](?P<minute>[0-5]\d))?\s*(?P<half>am|pm|a\.m\."
    r"|p\.m\.)"
    r"|(?:\bat )(?P<hour24>[01]?\d|2[0-3])(?:[:.](?P<minute24>[0-5]\d))?(?:\s*(?:h|o'clock))?\b"
    r"|\b(?P<hour_plain>[01]?\d|2[0-3]):(?P<minute_plain>[0-5]\d)\b",
    re.I,
)
_PART: Final = re.compile(
    rf"\b(?:in the |at |this |on )?(?P<part>{'|'.join(_PART_TIMES)})\b", re.IGNORECASE
)
_SOON: Final = re.compile(r"\bin (?P<count>\d{1,3}|an?|half an) (?P<unit>minute|hour)s?\b", re.I)
_ONE_DAY: Final = re.compile(rf"\b(?:on |by |for |until )?(?P<day>{DAY})", re.IGNORECASE)
_RANGE: Final = re.compile(rf"\b(?P<first>{DAY}){_TILL}(?P<last>{DAY})", re.IGNORECASE)
_EARLY: Final = time(9)
_LATE: Final = time(20)


@dataclass(frozen=True, slots=True)
class Days:
    """Some days in a row."""

    start: date
    end: date

    @property
    def dates(self) -> tuple[str, ...]:
        """Each of them."""
        count = (self.end - self.start).days + 1
        return tuple((self.start + timedelta(days=n)).isoformat() for n in range(count))


@dataclass(frozen=True, slots=True)
class When:
    """A moment somebody named, in UTC, and the words that are left without it."""

    at: str
    rest: str
    # Whether the time of day was said, or is only assumed.
    has_time: bool


def read_day(text: str, today: Today) -> date | None:
    """Return the day a phrase names, or None if it names none."""
    phrase = re.sub(r"^(?:on|by|for|until)\s+", "", text.casefold().strip(" .,!?"))
    phrase = phrase.removesuffix("'s").strip()
    fixed = {"today": 0, "tonight": 0, "tomorrow": 1, "day after tomorrow": 2}
    bare = phrase.removeprefix("the ")
    if bare in fixed:
        return today.day + timedelta(days=fixed[bare])
    ahead = re.fullmatch(r"in (\d{1,3}) (day|week)s?", phrase)
    if ahead is not None:
        return today.day + timedelta(days=int(ahead[1]) * (7 if ahead[2] == "week" else 1))
    if re.fullmatch(rf"(?:(?:this|next|on) ){{0,3}}{_WEEKDAY}", phrase):
        return _weekday(phrase, today)
    return _calendar_day(bare, today)


def read_days(text: str, today: Today) -> Days | None:
    """Return the days a phrase names: a week, a weekend, a month, from day to day, or one day."""
    phrase = text.casefold().strip(" .,!?")
    row = _RANGE.search(phrase)
    if row is not None:
        return _from_to(read_day(row["first"], today), read_day(row["last"], today))
    count = re.search(r"next (\d{1,2}|few) days", phrase)
    if count is not None:
        size = 3 if count[1] == "few" else max(int(count[1]), 1)
        return Days(today.day, today.day + timedelta(days=size - 1))
    found = re.search(
        r"(?P<which>this|next|the|my|our)(?: \w+)? (?P<what>weekend|week|month)", phrase
    )
    if found is not None:
        return _period(found["what"], is_next=found["which"] == "next", today=today)
    one = _ONE_DAY.search(phrase)
    day = None if one is None else read_day(one["day"], today)
    return None if day is None else Days(day, day)


def _from_to(first: date | None, last: date | None) -> Days | None:
    if first is None or last is None:
        return None
    # From Friday to Tuesday ends in the week after.
    end = last if last >= first else last + timedelta(days=7)
    return Days(first, end) if end >= first else None


def find_when(text: str, today: Today) -> When | None:
    """Return the moment a sentence names, with the sentence that is left."""
    soon = _SOON.search(text)
    if soon is not None:
        count = {"a": 1.0, "an": 1.0, "half an": 0.5}.get(soon["count"].casefold())
        amount = float(soon["count"]) if count is None else count
        delta = timedelta(**{f"{soon['unit'].casefold()}s": amount})
        return When(_utc(today.now.astimezone(UTC) + delta), _cut(text, soon), has_time=True)
    day_found = _ONE_DAY.search(text)
    day = None if day_found is None else read_day(day_found["day"], today)
    rest = text if day_found is None or day is None else _cut(text, day_found)
    at, rest = _time_of(rest)
    if at is None and day_found is not None and day_found["day"].casefold() == "tonight":
        at = _PART_TIMES["tonight"]
    if day is None and at is None:
        return None
    if day is None and at is not None:
        # "At 6" is the next six o'clock there is.
        day = today.day + timedelta(days=int(at <= today.now.time()))
    assert day is not None  # noqa: S101 - one of the two was found
    hour = at or (_EARLY if day > today.day or today.now.time() < _EARLY else _LATE)
    local = datetime.combine(day, hour, tzinfo=today.now.tzinfo)
    return When(_utc(local), rest, has_time=at is not None)


def _time_of(text: str) -> tuple[time | None, str]:
    found = _CLOCK.search(text)
    if found is not None:
        hour = int(found["hour"] or found["hour24"] or found["hour_plain"])
        minute = int(found["minute"] or found["minute24"] or found["minute_plain"] or 0)
        if found["half"]:
            if hour > 12:
                return None, text
            hour = hour % 12 + (12 if found["half"].casefold().startswith("p") else 0)
        return time(hour, minute), _cut(text, found)
    part = _PART.search(text)
    if part is None:
        return None, text
    return _PART_TIMES[part["part"].casefold()], _cut(text, part)


def _weekday(phrase: str, today: Today) -> date | None:
    name = phrase.split()[-1]
    number = _SHORT.get(name) if name in _SHORT else _SHORT.get(name[:3])
    if number is None or not _is_day_name(name):
        return None
    if "next" in phrase.split():
        start = today.week_start + timedelta(days=7)
        return start + timedelta(days=(number - start.weekday()) % 7)
    return today.day + timedelta(days=(number - today.day.weekday()) % 7)


def _is_day_name(name: str) -> bool:
    return name in _SHORT or name in _DAYS


def _calendar_day(phrase: str, today: Today) -> date | None:
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", phrase):
            return date.fromisoformat(phrase)
        found = re.fullmatch(
            rf"(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{_MONTH})"
            rf"|(?P<m2>{_MONTH}) (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?",
            phrase,
        )
        if found is None:
            return None
        month = _MONTHS[found["m1"] or found["m2"]]
        day = date(today.day.year, month, int(found["d1"] or found["d2"]))
        return day if day >= today.day else day.replace(year=day.year + 1)
    except ValueError:
        # There is no such day in that month.
        return None


def _period(what: str, *, is_next: bool, today: Today) -> Days:
    if what == "month":
        first = today.day.replace(day=1)
        if is_next:
            first = (first + timedelta(days=32)).replace(day=1)
        last = first.replace(day=calendar.monthrange(first.year, first.month)[1])
        return Days(first if is_next else today.day, last)
    start = today.week_start + timedelta(days=7 if is_next else 0)
    if what == "weekend":
        saturday = start + timedelta(days=(5 - start.weekday()) % 7)
        return Days(saturday, saturday + timedelta(days=1))
    return Days(start if is_next else today.day, start + timedelta(days=6))


def _cut(text: str, found: re.Match[str]) -> str:
    left = f"{text[: found.start()].rstrip()} {text[found.end() :].lstrip()}"
    return re.sub(r"\s+(?:at|on|by|for|in|the)?\s*$", "", left.strip(" ,.")).strip(" ,.")


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
