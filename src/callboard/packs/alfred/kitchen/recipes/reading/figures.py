"""Servings and times as people and machines write them."""

import math
import re
from dataclasses import dataclass
from typing import Final

from callboard.packs.alfred.kitchen.recipes.lines.doubts import plain_line
from callboard.packs.alfred.kitchen.recipes.lines.lexicon import Number, read_number

LONGEST_MINUTES: Final = 60 * 24 * 60
MOST_SERVINGS: Final = 1_000.0
_ISO: Final = re.compile(
    r"P(?:(\d{1,3})W)?(?:(\d{1,3})D)?"
    r"(?:T(?:(\d{1,4}(?:\.\d+)?)H)?(?:(\d{1,5}(?:\.\d+)?)M)?(?:(\d{1,6})(?:\.\d+)?S)?)?",
    re.IGNORECASE,
)
_PART: Final = re.compile(
    r"(?P<number>\d[\d./, ]*+(?:\s*+(?:-|~|to|or)\s*+\d[\d./]*+)?|an?|half an?)\s*+"
    r"(?P<unit>d(?:ays?)?|h(?:(?:ou)?rs?|ours?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?|weeks?|w"
    r"|stunden?|std|tage?)(?![^\W\d_])\.?",
    re.IGNORECASE,
)
_MINUTES: Final = {"w": 7 * 24 * 60.0, "d": 24 * 60.0, "t": 24 * 60.0, "h": 60.0, "m": 1.0}
_SERVES: Final = re.compile(
    r"(?:serves|makes|yields?|servings?|for|portions?)\b\s*:?\s*", re.IGNORECASE
)
_ABOUT: Final = re.compile(r"^\s*(?:about|around|approx\.?|~|circa|ca\.?)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Servings:
    """How much a recipe makes."""

    low: float
    high: float | None = None
    of: str | None = None


def read_servings(text: str) -> Servings | None:
    """Return what a text says about servings, or None if it says nothing."""
    plain = plain_line(text).removesuffix("+").strip()
    plain = _ABOUT.sub("", _SERVES.sub("", _ABOUT.sub("", plain), count=1))
    number = read_number(plain.strip())
    if number is None or number.low is None or not 0 < number.low <= MOST_SERVINGS:
        return None
    rest = plain.strip()[number.length :].strip(" +.,;:-")
    high = number.high if number.high is not None and number.high <= MOST_SERVINGS else None
    return Servings(number.low, high, _counted_in(rest))


def read_minutes(text: str) -> int | None:
    """Return how long a text says something takes, or None if it does not say.

    Of a range it is the longer: who plans an evening needs the end of it.
    """
    plain = plain_line(text)
    iso = _ISO.fullmatch(plain.strip())
    if iso is not None and plain.strip().upper() not in ("P", "PT"):
        return _iso_minutes(iso)
    first = re.split(r"\s+\+\s+|\s+or\s+(?=\d+ ?h)|,\s*\(|\(", plain)[0]
    total, found = 0.0, False
    for part in _PART.finditer(first):
        minutes = _part_minutes(part["number"].strip(), part["unit"].casefold())
        if minutes is not None:
            total, found = total + minutes, True
    return _within(total) if found else None


def iso_duration(minutes: int) -> str:
    """Return minutes as ISO 8601 writes them."""
    hours, left = divmod(minutes, 60)
    if not hours:
        return f"PT{left}M"
    return f"PT{hours}H{left}M" if left else f"PT{hours}H"


def _iso_minutes(iso: re.Match[str]) -> int | None:
    sizes = (7 * 24 * 60.0, 24 * 60.0, 60.0, 1.0, 1 / 60)
    return _within(
        sum(float(part or 0) * size for part, size in zip(iso.groups(), sizes, strict=True))
    )


def _part_minutes(number: str, unit: str) -> float | None:
    if number.casefold().startswith(("a", "half")):
        value = 0.5 if number.casefold().startswith("half") else 1.0
    else:
        read = Number(0.0, None, 1) if number == "0" else read_number(number)
        if read is None or read.low is None:
            return None
        value = read.high or read.low
    if unit.startswith(("sec", "s")) and not unit.startswith(("std", "stunde")):
        return value / 60
    return value * _MINUTES.get("h" if unit.startswith("s") else unit[0], 1.0)


def _within(minutes: float) -> int | None:
    if not math.isfinite(minutes) or not 0 <= minutes <= LONGEST_MINUTES:
        return None
    return math.ceil(minutes - 1e-9)


def _counted_in(rest: str) -> str | None:
    word = rest.partition("(")[0].strip(" .").casefold()
    if not word or len(word) > _LONGEST_WORD or word in _PORTIONS:
        return None
    return word


_LONGEST_WORD: Final = 40
_PORTIONS: Final = frozenset(
    ["serving", "servings", "portion", "portions", "people", "persons", "person", "pers"]
)
